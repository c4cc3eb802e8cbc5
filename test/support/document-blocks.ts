import { projectText } from './source-file.ts'

export type Block = {
  readonly language: string
  /** The text after the language. */
  readonly note: string
  readonly text: string
  readonly line: number
  readonly heading: string
}

export function blocksOf(document: string) {
  const blocks: Block[] = []
  let heading = ''
  let open:
    | { readonly language: string; readonly note: string; readonly line: number; text: string }
    | undefined
  for (const [index, line] of projectText(document).split('\n').entries()) {
    const [fence, language = '', note = ''] = /^ *```(\w+)?(?: (.*))?$/.exec(line) ?? []
    if (open && fence !== undefined) {
      blocks.push({ ...open, heading })
      open = undefined
    } else if (open) open.text += `${line}\n`
    else if (fence !== undefined) open = { language, note, line: index + 1, text: '' }
    else if (line.startsWith('#')) heading = line.replace(/^#+ /, '')
  }
  return blocks
}

export function matchesIn(text: string, pattern: RegExp) {
  return [...text.matchAll(pattern)].map(([, found = '']) => found)
}

export function anchorsOf(text: string) {
  return matchesIn(text, /^#+ (.+)$/gm).map(anchorOf)
}

export function anchorOf(title: string) {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}
