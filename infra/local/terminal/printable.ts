/**
 * Control and format characters (C0, C1, bidi, invisible) become `\uXXXX`: they could rewrite lines
 * that the operator has read, or forge a line.
 */
export function printableLine(text: string) {
  return text.replace(/[\p{Cc}\p{Cf}]/gu, escapeCharacters)
}

function escapeCharacters(characters: string) {
  return Array.from({ length: characters.length }, (_, at) => characters.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('')
}

/** JSON keeps its meaning, because the escaped characters occur only inside its texts. */
export function printableLines(text: string) {
  return text.split('\n').map(printableLine).join('\n')
}

export type Output = { readonly out: (text: string) => void; readonly err: (text: string) => void }

export type CommandIo = Output & { readonly env: NodeJS.ProcessEnv }

export function onTerminal<Io extends Output>(io: Io): Io {
  return {
    ...io,
    out: (text) => io.out(printableLines(text)),
    err: (text) => io.err(printableLines(text)),
  }
}
