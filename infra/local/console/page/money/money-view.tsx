import { rupiah, words } from '../../activity/activity-line.ts'
import { ActionButton } from '../action-button.tsx'
import { api, invoke, operate } from '../calls.ts'
import { useLoad } from '../gateway.ts'
import { Detail, ReadCard, Rows } from '../parts.tsx'
import { SettlementSchema, SuspenseListSchema } from '../shapes.ts'
import { BooksCard } from './books-card.tsx'
import { ChannelBars } from './channel-bars.tsx'
import { EntriesCard } from './entries-card.tsx'
import { FlowCard } from './flow-card.tsx'
import { loadMoney } from './money-flow.ts'
import { SettleCard } from './settle-card.tsx'
import { SettlementRow, SettlementsCard } from './settlements-card.tsx'

/** The page's address has this word instead of a settlement's id. */
const ENTRIES = 'entries'

/** The flow of the money, the settlements and the books; or the entries of one sum. */
export function MoneyView({ selectedId }: { readonly selectedId: string | undefined }) {
  return selectedId === undefined ? (
    <Overview />
  ) : (
    <Entries key={selectedId} selectedId={selectedId} />
  )
}

function Overview() {
  // Read once for all pictures.
  const money = useLoad('money', loadMoney)
  return (
    <>
      <FlowCard read={money} />
      <div class="split even">
        <div>
          <SettleCard />
          <ChannelBars read={money} />
          <BooksCard />
        </div>
        <div>
          <SettlementsCard />
          <Suspense />
        </div>
      </div>
    </>
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
