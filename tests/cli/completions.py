#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what the shells' completions offer with each command's --help, and tries them.

The words come from `daybreak complete`; a shell is asked at the end of a line, with a `daybreak` in PATH that has probes,
which a machine without the module has not: bash and zsh through the completion's own function, fish by `complete -C`. zsh and
fish are tried where they are.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../packaging/completions")
PROBES = ["syscall:vmlinux:openat:entry", "syscall:vmlinux:openat:return", "dtrace:::BEGIN",
          "fbt:odd:$(touch${IFS}made):entry"] # a name is text, whatever a shell makes of it

# Of a command line the words that TAB has to offer, and some that it must not.
LINES = [
    ("daybreak re", ["record", "report", "recover"], ["complete", "status"]),
    ("daybreak report --si", ["--since"], ["--until"]),
    ("daybreak report b", ["boot.dbrk"], ["boot.d"]),
    ("daybreak report ", ["boot.dbrk", "folder"], ["boot.d", "boot.dof"]),
    ("daybreak list ", ["boot.dbrk", "folder"], PROBES),
    ("daybreak list -l ", PROBES, ["boot.dbrk"]),
    ("daybreak list -l --", ["--kernel"], PROBES),
    ("daybreak list -lv io::: syscall:vmlinux:op", ["openat:entry", "openat:return"], ["dtrace:::BEGIN"]),
    ("daybreak merge ", ["boot.states", "folder"], ["boot.d", "boot.dbrk"]),
    ("daybreak embed ", ["boot.d", "boot.dof", "folder"], ["boot.dbrk", "boot.ko"]),
    ("daybreak sign ", ["boot.dof", "boot.ko", "folder"], ["boot.d", "boot.dbrk"]),
    ("daybreak install ", ["boot.d", "folder"], ["boot.dof", "boot.dbrk"]),
    ("daybreak watch exec", ["execsnoop"], ["biolatency"]),
    ("daybreak watch -X bio", ["biolatency", "biosnoop"], ["execsnoop"]),
    ("daybreak compile -s ", ["boot.d", "folder"], ["boot.dbrk"]),
    ("daybreak sim -x buf", ["bufsize", "bufpolicy"], ["strsize"]),
    ("dtrace -x agg", ["aggsize", "aggrate"], ["bufsize"]),
    ("dtrace -n ", PROBES, []),
    ("dtrace -n 'syscall:vmlinux:op", ["openat:entry", "openat:return"], ["dtrace:::BEGIN"]),
    ("daybreak report --probe syscall:vmlinux:op", ["openat:entry", "openat:return"], ["dtrace:::BEGIN"]),
    ("dtrace --sim", ["--simulate"], ["--kernel"]),
    ("daybreak dtrace --ker", ["--kernel"], ["--simulate"]),
    ("/usr/sbin/dtrace -", ["-n", "-32", "-Z", "--help"], ["--since"]),
]


def output_of(*command):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, check=True).stdout


def options_in_help(text):
    """The options that a help text has, at the beginning of its lines."""
    found = set()
    for line in text.splitlines():
        entry = re.match(r"  (-[-\w]+(?:,-[-\w]+)*)", line)
        if entry:
            found.update(entry[1].split(","))
    return found


def check_words(daybreak):
    """`complete` has what --help has, and nothing else."""
    commands = [line.split("\t")[0] for line in output_of(daybreak, "complete").splitlines()]
    listed = output_of(daybreak, "--help").split("Subcommands:")[1].split("\n\n")[0]
    shown = [line.split()[0] for line in listed.splitlines() if re.match(r"  \w", line)]
    wrong = [] if sorted(commands) == sorted(shown) else ["commands: %s, --help: %s" % (commands, shown)]
    for command in commands:
        words = {line.split("\t")[0] for line in output_of(daybreak, "complete", command).splitlines()}
        text = output_of(daybreak, command, "--help")
        if command == "dtrace":
            usage = text.split("Example:")[0]
            shown = set(re.findall(r"--\w+", usage)) | {"-32", "-64", "--help", "--simulate"}
            shown |= {"-" + letter for group in re.findall(r"\[-([A-Za-z]+)\]", usage) for letter in group}
            shown |= set(re.findall(r"\[(-[A-Za-z]) ", usage))
            words -= {"-B", "-H"} - shown # what dtrace(1) once had, and cpp's
        else:
            shown = options_in_help(text)
        if words != shown:
            wrong.append("%s: only completed %s, only in --help %s" % (command, words - shown, shown - words))
    return wrong


# What a shell offers at the end of the line $1. zsh's own part, which takes the words that begin as the last one does, works
# in a terminal only.
SHELLS = {
    "bash": ["-uc", r'''. %s/daybreak.bash; COMP_LINE=$1; COMP_POINT=${#1}; _daybreak; printf '%%s\n' "${COMPREPLY[@]}"'''],
    "zsh": ["-fc", r'''
        compadd() { case $1 in -l) print -rl -- $found ;; *) print -rl -- $@ ;; esac }
        _files() { print -rl -- *(/N) ${~2:+${~2}(N)} }
        words=(${(z)1}); [[ $1 == *" " ]] && words+=("")
        CURRENT=$#words; PREFIX=${(Q)words[-1]}; service=${words[1]:t}
        . %s/_daybreak'''],
    "fish": ["-c", "source %s/daybreak.fish; complete -C $argv[1]"],
}


def offered(shell, line, folder, environment):
    option, script = SHELLS[shell]
    ran = subprocess.run([shell, option, script % FOLDER, *([] if shell == "fish" else [shell]), line], cwd=folder,
                         env=environment, text=True, stdout=subprocess.PIPE, check=True)
    words = [word.split("\t")[0].rstrip("/") for word in ran.stdout.splitlines()]
    typed = line.rsplit(" ", 1)[1].strip("'")
    if shell == "zsh":
        words = [word for word in words if word.startswith(typed)]
    if shell != "bash": # to bash a colon ends a word
        words = [word[typed.rfind(":") + 1:] for word in words]
    return words


def check_shell(shell, daybreak):
    wrong = []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as binaries:
        stub = os.path.join(binaries, "daybreak")
        with open(stub, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n[ \"$2\" = --probes ] && { printf '%%s\\n' '%s'; exit; }\nexec %s \"$@\"\n"
                       % ("' '".join(PROBES), os.path.abspath(daybreak)))
        os.chmod(stub, 0o755)
        for name in ("boot.d", "boot.dbrk", "boot.states", "boot.dof", "boot.ko"):
            open(os.path.join(folder, name), "w", encoding="utf-8").close()
        os.mkdir(os.path.join(folder, "folder"))
        environment = dict(os.environ, PATH=binaries + ":" + os.environ["PATH"], HOME=binaries)
        for line, wanted, unwanted in LINES:
            words = offered(shell, line, folder, environment)
            if not set(wanted) <= set(words) or set(unwanted) & set(words):
                wrong.append("%s: %s<TAB>: %s, expected %s and none of %s" % (shell, line, words, wanted, unwanted))
        if os.path.exists(os.path.join(folder, "made")):
            wrong.append(shell + " ran what a probe's name says")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--daybreak", required=True, help="the program")
    arguments = parser.parse_args()
    wrong = check_words(arguments.daybreak)
    for shell, name in (("bash", "daybreak.bash"), ("zsh", "_daybreak"), ("fish", "daybreak.fish")):
        if not shutil.which(shell):
            print("%s is not installed: %s is not checked by it" % (shell, name))
        elif subprocess.run([shell, "-n", os.path.join(FOLDER, name)], check=False).returncode:
            wrong.append(name + ": " + shell + " cannot read it")
        else:
            wrong += check_shell(shell, arguments.daybreak)
    for line in wrong:
        print("FAIL " + line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
