import { api } from '../calls.ts'
import { useLoad } from '../gateway.ts'
import { Detail, ReadCard } from '../parts.tsx'
import { SettlementSchema } from '../shapes.ts'
import { BooksCard } from './books-card.tsx'
import { ChannelBars } from './channel-bars.tsx'
import { EntriesCard } from './entries-card.tsx'
import { FlowCard } from './flow-card.tsx'
import { loadMoney } from './money-flow.ts'
import { SettleCard } from './settle-card.tsx'
import { SettlementRow, SettlementsCard } from './settlements-card.tsx'
import { StatementPage } from './statement-page.tsx'

/** The page's address has one of these words instead of a settlement's id. */
const [ENTRIES, STATEMENT] = ['entries', 'statement']

/** The flow of the money, the settlements and the books; or the entries of one sum. */
export function MoneyView({ selectedId }: { readonly selectedId: string | undefined }) {
  if (selectedId === STATEMENT) return <StatementPage />
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
        </div>
      </div>
    </>
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
