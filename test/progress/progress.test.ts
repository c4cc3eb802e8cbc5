import { describe, expect, it } from 'vitest'
import { startLastLine } from './last-line.ts'
import { type FileProgress, type FileRecord, progressLine } from './progress-line.ts'

const MINUTE_MS = 60_000

function waiting(before?: FileRecord): FileProgress {
  return { tests: undefined, done: 0, isOver: false, before }
}

function begun(done: number, tests: number, before?: FileRecord): FileProgress {
  return { tests, done, isOver: done === tests, before }
}

function files(count: number, one: FileProgress): readonly FileProgress[] {
  return Array.from({ length: count }, () => one)
}

const FEW = { tests: 10, ms: 1_000 }
const MANY = { tests: 1_000, ms: 100_000 }

describe('the progress line of npm test', () => {
  it.each<[string, readonly FileProgress[], elapsedMs: number, line: string]>([
    ['nothing, before any file is loaded', files(3, waiting()), 0, '0 tests done, 0 of 3 files'],
    [
      'the tests and the time of an earlier run, for these workers, before any file is loaded',
      [...files(20, waiting(FEW)), ...files(2, waiting(MANY))],
      0,
      '0 of about 2,200 tests done, 0 of 22 files, about 2 min left',
    ],
    [
      'no time that an earlier run took, when it is over',
      [waiting(MANY)],
      3 * MINUTE_MS,
      '0 of about 1,000 tests done, 0 of 1 files',
    ],
    [
      'the pace of this run, in which a long file counts by its tests',
      [...files(20, begun(10, 10, FEW)), begun(900, 1_000, MANY), waiting(MANY)],
      3 * MINUTE_MS,
      '1,100 of about 2,200 tests done, 20 of 22 files, about 3 min left',
    ],
    [
      'as many tests for an unknown file as for the others',
      [...files(3, begun(20, 20, FEW)), waiting()],
      3 * MINUTE_MS,
      '60 of about 80 tests done, 3 of 4 files, about 60 s left',
    ],
    [
      'no time without an earlier run, while most files wait: the longest ones begin first',
      [...files(4, begun(5, 5)), ...files(6, waiting())],
      MINUTE_MS,
      '20 of about 50 tests done, 4 of 10 files',
    ],
    [
      'a time without an earlier run, when half of the work is done',
      [...files(8, begun(5, 5)), ...files(2, waiting())],
      MINUTE_MS,
      '40 of about 50 tests done, 8 of 10 files, about 20 s left',
    ],
    [
      'an exact number, when all files are loaded',
      [begun(5, 5), begun(4, 5)],
      MINUTE_MS,
      '9 of 10 tests done, 1 of 2 files, about 10 s left',
    ],
    [
      'a file that could not be loaded as one without tests',
      [begun(0, 0)],
      0,
      '0 of 0 tests done, 1 of 1 files',
    ],
  ])('says %s', (_, all, elapsedMs, line) => {
    expect(progressLine({ files: all, elapsedMs, workers: 2 })).toBe(line)
  })
})

it('the last line of a terminal stays below what others write, is cut to its width, and ends without a trace', () => {
  const written: string[] = []
  const write = (text: string | Uint8Array) => written.push(String(text)) > 0
  const [terminal, errors] = [{ write, columns: 10 }, { write }]

  const line = startLastLine(terminal, [errors])
  line.show('12 of 34 tests')
  errors.write('part of ')
  terminal.write('a text\n')
  line.show('13 of 34 tests')
  line.end()
  terminal.write('end\n')

  const clear = '\r\u001B[K'
  expect(written.filter((text) => text !== '')).toStrictEqual([
    '12 of 34 ',
    clear,
    'part of ',
    'a text\n',
    '12 of 34 ',
    clear,
    '13 of 34 ',
    clear,
    'end\n',
  ])
})
