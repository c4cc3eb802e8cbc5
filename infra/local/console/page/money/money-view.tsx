import { useState } from 'preact/hooks'
import * as v from 'valibot'
import { rupiah, words } from '../../activity/activity-line.ts'
import type { ConsoleCall } from '../../console-call.ts'
import { ActionButton } from '../action-button.tsx'
import { api, invoke, jumpBy, operate, withClientId } from '../calls.ts'
import { useRead } from '../gateway.ts'
import { Card, Detail, ReadCard, ReadResult, Rows } from '../parts.tsx'
import { BalanceSchema, BooksSchema, SettlementSchema, SuspenseListSchema } from '../shapes.ts'
import { EntriesCard } from './entries-card.tsx'
import { SettlementRow, SettlementsCard } from './settlements-card.tsx'

const DAY = 86_400
/** The page's address has this word instead of a settlement's id. */
const ENTRIES = 'entries'

/** The balance, the settlements and the payouts; or the entries of one of these sums. */
export function MoneyView({ selectedId }: { readonly selectedId: string | undefined }) {
  return selectedId === undefined ? (
    <>
      <Balance />
      <div class="split even">
        <div>
          <DailyWork />
          <Suspense />
        </div>
        <div>
          <SettlementsCard />
        </div>
      </div>
    </>
  ) : (
    <Entries key={selectedId} selectedId={selectedId} />
  )
}

function Balance() {
  const call = api('balance?include=settlements')
  const read = useRead(BalanceSchema, call)
  const [verdict, setVerdict] = useState('')
  return (
    <Card
      title="Balance"
      note="All credits, net of reversals, are in one of these states."
      call={call}
    >
      <ReadResult read={read}>{(balance) => <Equation balance={balance} />}</ReadResult>
      <p class="line">
        <ActionButton
          label="Check the books"
          call={invoke('get-books', withClientId())}
          onAnswer={({ body }) => {
            const checked = v.safeParse(BooksSchema, body)
            if (checked.success) setVerdict(verdictOf(checked.output))
          }}
        />
        <a href={`#money/${ENTRIES}`}>its entries</a>
        <span>{verdict}</span>
      </p>
    </Card>
  )
}

function Equation({ balance }: { readonly balance: v.InferOutput<typeof BalanceSchema> }) {
  const parts: readonly (readonly [string, number])[] = [
    ['pending', balance.pending_minor],
    ['available', balance.available_minor],
    ['in settlement', balance.in_settlement_minor],
    ['paid out', balance.paid_out_minor],
  ]
  return (
    <dl class="equation">
      <div>
        <dt>credited</dt>
        <dd>{rupiah(parts.reduce((sum, [, minor]) => sum + minor, 0))}</dd>
      </div>
      {parts.map(([name, minor], place) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <span class="sign">{place === 0 ? '=' : '+'}</span>
            {rupiah(minor)}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function verdictOf({ figures, balanced }: v.InferOutput<typeof BooksSchema>): string {
  const amounts = figures.map(
    ({ name, amount_minor: amount }) => `${name.replaceAll(/[._]/g, ' ')} ${rupiah(amount)}`,
  )
  return `This month: ${amounts.join(', ') || 'no entry yet'}. ${balanced ? 'They balance' : 'They do not balance'}.`
}

const WORK: readonly (readonly [label: string, call: ConsoleCall, effect: string])[] = [
  ['Jump 5 days', jumpBy(5 * DAY), 'the provider then settles the payments'],
  ['Read the provider’s transactions', invoke('sync-provider-transactions'), 'fees become final'],
  ['Sweep', invoke('sweep-settlements'), 'records a settlement of credits older than a day'],
  ['Check due work', invoke('check-due-work'), 'expires payments, and sends overdue webhooks'],
]

function DailyWork() {
  return (
    <Card
      title="Daily work"
      note="After a jump of the clock, run these steps in their order to settle the payments."
    >
      <ol class="steps">
        {WORK.map(([label, call, effect]) => (
          <li key={label}>
            <ActionButton label={label} call={call} {...(label === 'Sweep' && { kind: 'main' })} />{' '}
            <span class="muted">{effect}</span>
          </li>
        ))}
      </ol>
    </Card>
  )
}

function Suspense() {
  return (
    <ReadCard
      title="Suspense"
      note="Money that the gateway may not credit, and findings. An operator decides."
      call={invoke('list-suspense', { status: 'open' })}
      schema={SuspenseListSchema}
    >
      {({ data }) => (
        <Rows items={data} empty="Nothing is open.">
          {({ suspense_id: id, kind, cause, amount_minor: amount, payment_id: paymentId }) => (
            <li key={id} class="item">
              <p class="line">
                <strong>{words(cause)}</strong> <span class="muted">{kind}</span>
                {amount !== null && <span>{rupiah(amount)}</span>}
                {paymentId !== null && <a href={`#payments/${paymentId}`}>its payment</a>}
              </p>
              <ActionButton
                label="Write off"
                about={id}
                call={operate('resolve-suspense', {
                  suspense_id: id,
                  resolution: 'written_off',
                  notes: 'in the console',
                })}
              />
            </li>
          )}
        </Rows>
      )}
    </ReadCard>
  )
}

function Entries({ selectedId }: { readonly selectedId: string }) {
  return (
    <Detail list="#money" label="All the money">
      {selectedId === ENTRIES ? (
        <EntriesCard
          title="Entries"
          note="Every movement of the balance, settled or not."
          path="balance/entries"
        />
      ) : (
        <>
          <ReadCard
            title="Settlement"
            call={api(`settlements/${selectedId}`)}
            schema={SettlementSchema}
          >
            {(settlement) => (
              <ul class="rows">
                <SettlementRow settlement={settlement} />
              </ul>
            )}
          </ReadCard>
          <EntriesCard
            title="Its entries"
            note="Their sum is the net of the settlement."
            path={`settlements/${selectedId}/payments`}
          />
        </>
      )}
    </Detail>
  )
}
