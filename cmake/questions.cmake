# SPDX-License-Identifier: Apache-2.0
# dbk_embed_questions(TARGET NAME FOLDER QUESTION...)  writes NAME.inc, a Question for each FOLDER/QUESTION.d in
# this order, for TARGET

function(dbk_embed_questions target name folder)
  set(entries)
  foreach(question ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${question}.d)
    file(READ ${folder}/${question}.d text)
    string(APPEND entries "{\"${question}\", R\"d_text(${text})d_text\"},\n")
  endforeach()
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${folder} ${folder}/*.d)
  foreach(file ${files})
    string(REGEX REPLACE "\\.d$" "" question ${file})
    if(NOT question IN_LIST ARGN)
      message(FATAL_ERROR "${folder}/${file} is not in a list of questions")
    endif()
  endforeach()
  file(GENERATE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${name}.inc CONTENT "${entries}")
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
