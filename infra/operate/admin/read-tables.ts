import { readNamedFile, UsageError } from '../../local/terminal/command-line.ts'
import { parseCsv } from './parse-csv.ts'

export type SheetRow = readonly string[]

/**
 * The rows of the tables that a file may mean: of an xlsx file its first sheet, of a text one table
 * for each separator. Numbers of xlsx cells keep the file's text. Texts may be UTF-8 or UTF-16,
 * with or without a byte order mark.
 */
export async function readTables(path: string): Promise<readonly (readonly SheetRow[])[]> {
  const bytes = readNamedFile(path)
  if (bytes.subarray(0, 2).toString('latin1') === 'PK') return [await readXlsx(path, bytes)]
  const text = textOf(path, bytes).replace(/^sep=.\r?\n/i, '')
  const tables = ([',', ';', '\t'] as const).flatMap((separator) => {
    const rows = parseCsv(text, separator)
    return rows ? [rows] : []
  })
  if (tables.length === 0) throw new UsageError(`${path} is no CSV: a quote is misplaced`)
  return tables
}

async function readXlsx(path: string, bytes: Buffer): Promise<readonly SheetRow[]> {
  try {
    // The package's 80 files would delay every call of the tool.
    const { readSheet } = await import('read-excel-file/node')
    const rows = await readSheet(bytes, { parseNumber: numberText })
    return rows.map((row) => row.map(cellText))
  } catch (cause) {
    throw new UsageError(`${path} is no xlsx file that can be read`, { cause })
  }
}

/** A spreadsheet keeps 15 digits of a number. A longer number gets a text that is refused. */
function numberText(text: string) {
  return /^-?\d{16,}(\.0+)?$/.test(text) ? Number(text).toExponential() : text
}

function cellText(cell: unknown) {
  if (cell instanceof Date) return cell.toISOString().slice(0, 'yyyy-mm-dd'.length)
  return typeof cell === 'string' ? cell.trim() : ''
}

function textOf(path: string, bytes: Buffer) {
  const encoding = encodingOf(bytes)
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new UsageError(`${path} is neither xlsx nor a text in UTF-8 or UTF-16`, { cause })
  }
}

/** A text of a bank begins with ASCII, so every second byte of UTF-16 is zero. */
function encodingOf([first, second]: Buffer) {
  if ((first === 0xff && second === 0xfe) || second === 0) return 'utf-16le'
  return (first === 0xfe && second === 0xff) || first === 0 ? 'utf-16be' : 'utf-8'
}
