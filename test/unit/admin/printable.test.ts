import { describe, expect, it } from 'vitest'
import { localLog } from '../../../infra/local/functions/local-log.ts'
import { onTerminal, printable, printableLines } from '../../../infra/local/terminal/printable.ts'
import { ok, renderFindings } from '../../../infra/operate/check/finding.ts'

/** Every character of the two kinds, those beyond the first plane included. */
const COMMANDS = Array.from({ length: 0x110000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((character) => /[\p{Cc}\p{Cf}]/u.test(character))

const NO_COMMAND = /^[^\p{Cc}\p{Cf}]*$/u

describe('text from outside on a terminal', () => {
  it('is written without one character that could be a command to it', () => {
    expect(COMMANDS.length).toBeGreaterThan(200)
    expect(printable(COMMANDS.join(''))).toMatch(NO_COMMAND)
    expect(printable('\u001b[31m \u009b \u202e \u{e0001}')).toBe(String.raw`\u001b[31m \u009b \u202e \udb40\udc01`)
  })

  it('keeps the lines of our own layout, and the meaning of JSON', () => {
    const value = { [COMMANDS.join('')]: COMMANDS.join('x') }

    expect(printableLines('a\nb\r\n')).toBe('a\nb\\u000d\n')
    expect(JSON.parse(printableLines(JSON.stringify(value, null, 2)))).toStrictEqual(value)
  })

  it('passes through it in every line and finding of the tools', () => {
    const printed: string[] = []
    const io = onTerminal({ out: (text: string) => printed.push(text), err: (text: string) => printed.push(text) })

    io.out('\u001b[2J\nb')
    io.err('\u202e')

    expect(printed).toStrictEqual(['\\u001b[2J\nb', '\\u202e'])
    const finding = { ...ok('a\nb', '\u001b[2J'), todo: '\u202e' }
    expect(renderFindings([finding], { ok: 'ok', wrong: 'no', unclear: '?' })).toBe(
      String.raw`ok  a\u000ab: \u001b[2J` + '\n' + String.raw`      -> \u202e`,
    )
  })

  it('is text in the local log too, which stays JSON', () => {
    const log = localLog({ nowMs: () => 0 })

    log.info('operator.action', { action: 'a\u009b2J\u202e' })

    const [line = ''] = log.lines()
    expect(line).toMatch(NO_COMMAND)
    expect(JSON.parse(line)).toMatchObject({ action: 'a\u009b2J\u202e' })
  })
})
