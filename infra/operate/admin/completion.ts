import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { PROJECT_ROOT } from '../../stack/project-root.ts'
import { defineAction, LOCAL_STAGE } from './action-command.ts'
import { LISTED_ACTIONS, type ListedAction } from './listed-actions.ts'

/** A developer's own stage has no file. */
export function stageFiles() {
  return readdirSync(join(PROJECT_ROOT, 'infra/stages')).map((file) => file.replace(/\.json$/, ''))
}

/**
 * A script for bash, and for zsh by its bashcompinit, that completes `gateway-admin`. It has all
 * words, so that no key press starts a process. npm would change the folder.
 */
export function completionScript() {
  const cases = LISTED_ACTIONS.map(
    (action) => `    ${action.name}) words='${optionsOf(action).join(' ')}' ;;`,
  )
  return `if [ -n "$ZSH_VERSION" ]; then autoload -U +X compinit bashcompinit && compinit && bashcompinit; fi
gateway-admin() { PATH='${PROJECT_ROOT}/node_modules/.bin':$PATH node '${import.meta.dirname}/main.mjs' "$@"; }
_gateway_admin() {
  local words=''
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then words='today month ${LISTED_ACTIONS.map(({ name }) => name).join(' ')}'; fi
  if [ "\${COMP_WORDS[COMP_CWORD - 1]}" = --stage ]; then words='${[LOCAL_STAGE, ...stageFiles()].join(' ')}'; fi
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _gateway_admin gateway-admin`
}

function optionsOf(action: ListedAction) {
  const command = new Command()
  defineAction(command, action, undefined, () => undefined)
  return [...command.options.map(({ long }) => long), '--help']
}
