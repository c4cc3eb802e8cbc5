import { useState } from 'preact/hooks'
import * as v from 'valibot'
import { rupiah } from '../../activity/activity-line.ts'
import { ActionButton } from '../action-button.tsx'
import { invoke, withClientId } from '../calls.ts'
import { Card } from '../parts.tsx'
import { Table } from '../pictures/figure-table.tsx'
import { BooksSchema } from '../shapes.ts'

type Books = v.InferOutput<typeof BooksSchema>

/** The merchant's books of this month, on request. Figures of zero are left out. */
export function BooksCard() {
  const [books, setBooks] = useState<Books>()
  const figures = books?.figures.filter(({ amount_minor: amount }) => amount !== 0) ?? []
  return (
    <Card
      title="Books"
      note="What moved this month, from the journal alone, and whether all sides are equal."
    >
      <p class="line">
        <ActionButton
          label="Check the books"
          call={invoke('get-books', withClientId())}
          onAnswer={({ body }) => {
            const parsed = v.safeParse(BooksSchema, body)
            if (parsed.success) setBooks(parsed.output)
          }}
        />
        <a href="#money/entries">all entries</a>
        <a href="#money/statement">the statement</a>
        {books && <span class={books.balanced ? 'good' : 'bad'}>{verdictOf(books)}</span>}
      </p>
      {figures.length > 0 && (
        <Table
          caption="The books of this month"
          heads={['Figure', 'Amount']}
          rows={figures.map(({ name, amount_minor: amount, source }) => [
            `${name.replaceAll(/[._]/g, ' ')}: ${source}`,
            rupiah(amount),
          ])}
        />
      )}
    </Card>
  )
}

function verdictOf({ figures, balanced, from, to }: Books): string {
  if (!balanced) return `From ${from} to ${to} the books do not balance.`
  return figures.some(({ amount_minor: amount }) => amount !== 0)
    ? `From ${from} to ${to} the books balance.`
    : `From ${from} to ${to} there is no entry.`
}
