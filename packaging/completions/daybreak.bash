# SPDX-License-Identifier: Apache-2.0
# Completion of daybreak's commands and options in bash.
_daybreak() {
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local -A options=(
		[compile]="-s --script -o --output --kernel --btf -S -x -D -L --help"
		[dof]="-o --output --dialect --help"
		[embed]="--module -o --output --help"
		[record]="--claim --keep -o --output --help"
		[report]="--since --until --system -q --help"
		[info]="--help"
		[list]="--help"
		[sim]="-s --script --dof --dialect -x -D -L --seed --cpus --help"
	)
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "${!options[*]} --help --version" -- "$word")
	elif [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "${options[${COMP_WORDS[1]}]}" -- "$word")
	elif [[ $previous == --kernel ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(cd /lib/modules 2>/dev/null && echo *)" -f -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}
complete -o filenames -F _daybreak daybreak
