import { describe, expect, it } from 'vitest'
import {
  jakartaDay,
  jakartaMinute,
  withJakartaTimes,
} from '../../../infra/local/console/page/jakarta.ts'

describe('the times of the console', () => {
  it('are those of Jakarta, whose day begins at 17:00 UTC', () => {
    expect(jakartaDay('2026-11-30T16:59:59.999Z')).toBe('2026-11-30')
    expect(jakartaDay('2026-11-30T17:00:00.000Z')).toBe('2026-12-01')
    expect(jakartaMinute('2026-12-31T17:05:59.000Z')).toBe('2027-01-01 00:05 WIB')
  })

  it('show a text that is no time as it is', () => {
    expect(jakartaDay('<b>soon')).toBe('<b>soon')
  })

  it('replace the instants of a sentence, and keep those of a command', () => {
    const sentence = 'Repeat the same call at 2026-12-02T09:04:56.687Z.'
    const command = `redeliver --since 2026-12-02T09:04:56Z --payload '{"at":"2026-12-02T09:04:56Z"}'`

    expect(withJakartaTimes(sentence)).toBe('Repeat the same call at 2026-12-02 16:04:56 WIB.')
    expect(withJakartaTimes(command)).toBe(command)
  })
})
