/** What wakes a person: one composite alarm for each who suffers, so that one trouble does not hide the next. */
export const PAGES = [
  { id: 'page-money-in', summary: 'Customers cannot pay, or we do not see that they did.' },
  { id: 'page-announcements', summary: 'Merchants are not told of payments.' },
  { id: 'page-due-work', summary: 'What gets lost is not repaired.' },
  {
    id: 'page-settlements',
    summary: 'Merchants are not settled, or money arrives that no merchant may be credited with.',
  },
  { id: 'page-platform', summary: 'The table or the account refuses, or is about to.' },
] as const

export type Page = (typeof PAGES)[number]
