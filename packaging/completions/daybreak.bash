# SPDX-License-Identifier: Apache-2.0
# Completion of daybreak's commands and options in bash.
_daybreak() {
	local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
	local -A options=(
		[compile]="-s --script -o --output --format --kernel --btf -S -x -D -L --help"
		[dof]="-o --output --dialect --help"
		[embed]="--module -o --output --help"
		[record]="--claim --keep -o --output --follow --max-size --max-age --max-files --file-size --file-age --sync --trigger-before --trigger-after --status-file --metrics --wait --ring -s --script --dof -x -w -q --help"
		[recover]="-o --output --list --half --sealed --if-any -q --help"
		[extract]="-o --output --list --boot --symbols --at -q --help"
		[report]="--boot --all --since --until --temporal --system -q --help"
		[info]="--boot --log --help"
		[list]="--boot --help"
		[snapshot]="--last -o --output --trigger --dir --status-file -q --help"
		[status]="--status-file --json --metrics --help"
		[sim]="-s --script -v --dof --dialect -x -D -L --seed --cpus --time --inject --privileges --help"
		[dtrace]="-32 -64 -a -A -b -c -C -D -e -f -F -H -i -I -l -L -m -n -o -p -P -q -s -S -U -v -V -w -x -X -Z --kernel --simulate --help"
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

# The same program under the name dtrace.
_daybreak_dtrace() {
	COMP_WORDS=(daybreak dtrace "${COMP_WORDS[@]:1}")
	((COMP_CWORD++))
	_daybreak
}
complete -o filenames -F _daybreak_dtrace dtrace
