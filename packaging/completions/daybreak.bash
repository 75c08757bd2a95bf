# SPDX-License-Identifier: Apache-2.0
# Completion of daybreak's commands and options in bash, and of dtrace, the same program under
# another name.  `daybreak complete` prints the words: they are what the program itself takes.
_daybreak() {
	# bash divides words at colons as well, which are parts of probes.
	local line=${COMP_LINE:0:COMP_POINT}
	local -a typed
	read -ra typed <<<"${line}x"
	local count=${#typed[@]}
	local word=${typed[count - 1]%x} previous=${typed[count - 2]} command=${typed[1]%x}
	[[ ${typed[0]##*/} == dtrace ]] && command=dtrace
	# With -l or -v it takes probes.
	[[ $command == list && ${typed[*]::count-1} == *' -'[lv]* && $word != -* ]] && previous=--probe
	local quote=${word%%[^\'\"]*}
	word=${word#"$quote"}
	COMPREPLY=()
	# Not compgen -W: it runs what a word has in $(...).
	_daybreak_offer() {
		local line
		while IFS= read -r line; do
			line=${line%%$'\t'*}
			[[ $line == "$word"* ]] && COMPREPLY+=("$line")
		done < <("$@")
	}
	if [[ ${typed[0]##*/} != dtrace ]] && ((count == 2)); then
		_daybreak_offer daybreak complete
		_daybreak_offer printf '%s\n' --help --version
		return
	fi
	case $previous in
	-x) _daybreak_offer daybreak complete --settings; return ;;
	--kernel)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		_daybreak_offer ls /lib/modules 2>/dev/null
		return
		;;
	-s | --script) _daybreak_files '*.d' && return ;;
	--module) _daybreak_files '*.ko' && return ;;
	-X | --profile)
		_daybreak_offer daybreak complete --profiles
		return
		;;
	-n | -P | --program | --probe | --align)
		_daybreak_offer daybreak complete --probes
		# What stands before the last colon is on the line already.
		local before=${word%"${word##*:}"}
		COMPREPLY=("${COMPREPLY[@]#"$before"}")
		return
		;;
	esac
	if [[ $word == -* ]]; then
		_daybreak_offer daybreak complete "$command"
		return
	fi
	case $command in
	boot-report | diff | replay | report | info | list | verify | pack) _daybreak_files '*.dbrk' ;;
	merge) _daybreak_files '*.states' ;;
	embed) _daybreak_files '*.d' '*.dof' ;;
	sign) _daybreak_files '*.dof' '*.ko' ;;
	install) _daybreak_files '*.d' ;;
	watch) _daybreak_offer daybreak complete --profiles ;;
	*) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
	esac
}
# Files of some patterns, and the folders that may hold them.
_daybreak_files() {
	local pattern
	mapfile -t COMPREPLY < <(for pattern; do compgen -f -X "!$pattern" -- "$word"; done; compgen -d -- "$word")
}
complete -o filenames -F _daybreak daybreak dtrace
