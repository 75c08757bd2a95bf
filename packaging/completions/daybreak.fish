# SPDX-License-Identifier: Apache-2.0
# Completion of daybreak's commands and options in fish, and of dtrace, the same program under
# another name.  `daybreak complete` prints the words: they are what the program itself takes.
# Folders, and the files with these suffixes.
function __daybreak_files
    __fish_complete_path (commandline -ct) | string match -r -- '^[^\t]*(?:/|\.(?:'(string join '|' $argv)'))(?:\t.*)?$'
end
function __daybreak_words
    set -l typed (commandline -opc)
    set -l command $typed[2]
    set -l previous $typed[-1]
    string match -q '*dtrace' -- $typed[1]; and set command dtrace
    # With -l or -v it takes probes.
    if test "$command" = list; and string match -qr -- '^-[lv]+$' $typed; and not string match -q -- '-*' (commandline -ct)
        set previous --probe
    end
    switch $previous
        case -x
            daybreak complete --settings
        case -n -P --program --probe --align
            daybreak complete --probes
        case -X --profile
            daybreak complete --profiles
        case --kernel
            command ls /lib/modules
        case -s --script
            __daybreak_files d
        case --module
            __daybreak_files ko
        case '*'
            if string match -q -- '-*' (commandline -ct)
                daybreak complete $command
            else if contains -- $command boot-report diff replay report info list verify pack
                __daybreak_files dbrk
            else if test "$command" = merge
                __daybreak_files states
            else if test "$command" = sign
                __daybreak_files dof ko
            else if test "$command" = embed
                __daybreak_files d dof
            else if test "$command" = watch
                daybreak complete --profiles
            else if test "$command" = install
                __daybreak_files d
            else
                __fish_complete_path (commandline -ct)
            end
    end
end
complete -c daybreak -f
complete -c dtrace -f
complete -c daybreak -n __fish_use_subcommand -a '(daybreak complete)'
complete -c daybreak -n 'not __fish_use_subcommand' -a '(__daybreak_words)'
complete -c dtrace -a '(__daybreak_words)'
