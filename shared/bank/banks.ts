/** A bank that a payout may go to. */
export type BankFacts = {
  /** How the gateway names the bank. */
  readonly code: string
  /** What people write besides the code. Case, `Bank`, `PT`, `Tbk` and the number are ignored. */
  readonly names: readonly string[]
  /** The number of the bank in transfers between banks. */
  readonly number: string
  /** The lengths of its account numbers. Absent if they are not known for certain. */
  readonly digits?: readonly number[]
  /** The channel of the bank in the provider's payouts. */
  readonly channel: string
}

/** By the provider's page payout-coverage-indonesia; other lists know only 10. */
const BNI_DIGITS = [7, 8, 9, 10, 11]

/**
 * The largest banks of Indonesia, and those that merchants often have. Read on 2026-11-26: channels
 * on the provider's page bank-codes, numbers at
 * https://tempo.co/ekonomi/daftar-44-kode-bank-ketahui-sebelum-transfer-uang--342698, and lengths
 * at https://xcloud.id/begini-cara-mengetahui-bank-dari-nomor-rekening. A length is named only
 * where public lists agree: a wrong length refuses a merchant's real account.
 */
export const BANKS: readonly BankFacts[] = [
  bank('BCA', '014', 'ID_BCA', 'Central Asia', [10]),
  bank('MANDIRI', '008', 'ID_MANDIRI', 'Mandiri Persero', [13]),
  bank('BRI', '002', 'ID_BRI', 'Rakyat Indonesia', [15]),
  bank('BNI', '009', 'ID_BNI', 'Negara Indonesia, BNI 46, Negara Indonesia 1946', BNI_DIGITS),
  bank('BTN', '200', 'ID_BTN', 'Tabungan Negara', [16]),
  bank('BSI', '451', 'ID_BSI', 'Syariah Indonesia, Syariah Mandiri', [10]),
  bank('CIMB', '022', 'ID_CIMB', 'CIMB Niaga, Niaga'),
  bank('PERMATA', '013', 'ID_PERMATA', 'Permata Bank'),
  bank('OCBC', '028', 'ID_OCBC', 'OCBC NISP, NISP, OCBC Indonesia'),
  bank('PANIN', '019', 'ID_PANIN', 'Pan Indonesia, Panin Bank'),
  bank('DANAMON', '011', 'ID_DANAMON', 'Danamon Indonesia'),
  bank('MAYBANK', '016', 'ID_MAYBANK', 'Maybank Indonesia, BII, Internasional Indonesia'),
  bank('UOB', '023', 'ID_UOB', 'UOB Indonesia, UOB Buana'),
  bank('MEGA', '426', 'ID_MEGA', ''),
  bank('BTPN', '213', 'ID_TABUNGAN_PENSIUNAN_NASIONAL', 'SMBC Indonesia, SMBC, Jenius'),
  bank('BTPN_SYARIAH', '547', 'ID_BTPN_SYARIAH', 'BTPN Syariah'),
  bank('HSBC', '087', 'ID_HSBC', 'HSBC Indonesia'),
  bank('DBS', '046', 'ID_DBS', 'DBS Indonesia, Digibank'),
  bank('CITIBANK', '031', 'ID_CITIBANK', 'Citi, Citibank Indonesia'),
  bank('STANDARD_CHARTERED', '050', 'ID_STANDARD_CHARTERED', 'Standard Chartered'),
  bank('MUFG', '042', 'ID_TOKYO', 'Tokyo Mitsubishi UFJ, MUFG Bank'),
  bank('BUKOPIN', '441', 'ID_BUKOPIN', 'KB Bukopin, KB Indonesia, KB'),
  bank('SINARMAS', '153', 'ID_SINARMAS', ''),
  bank('MUAMALAT', '147', 'ID_MUAMALAT', 'Muamalat Indonesia'),
  bank('MAYAPADA', '097', 'ID_MAYAPADA', 'Mayapada Internasional, Mayapada International'),
  bank('BJB', '110', 'ID_BJB', 'Jabar Banten, BPD Jawa Barat dan Banten, Jawa Barat'),
  bank('DKI', '111', 'ID_DKI', 'Jakarta, BPD DKI, DKI Jakarta'),
  bank('JATENG', '113', 'ID_JAWA_TENGAH', 'Jawa Tengah, BPD Jateng, BPD Jawa Tengah'),
  bank('JATIM', '114', 'ID_JAWA_TIMUR', 'Jawa Timur, BPD Jatim, BPD Jawa Timur'),
  bank('BALI', '129', 'ID_BALI', 'BPD Bali, Pembangunan Daerah Bali'),
  bank('BCA_DIGITAL', '501', 'ID_BCA_DIGITAL', 'Blu, Blu by BCA Digital, BluBCA, BCA Digital'),
  bank('BCA_SYARIAH', '536', 'ID_BCA_SYR', 'BCA Syariah'),
  bank('JAGO', '542', 'ID_JAGO', 'Artos'),
  bank('SEABANK', '535', 'ID_SEABANK', 'SeaBank Indonesia, Kesejahteraan Ekonomi'),
  bank('NEO_COMMERCE', '490', 'ID_BNC', 'BNC, Neo Commerce, Neo, Yudha Bhakti'),
  bank('ALLO', '567', 'ID_ALLO', 'Allo Bank, Allo Indonesia'),
  bank('NOBU', '503', 'ID_NATIONALNOBU', 'Nationalnobu, National Nobu'),
  bank('RAYA', '494', 'ID_AGRONIAGA', 'Raya Indonesia, BRI Agroniaga, Agroniaga'),
  bank('MNC', '485', 'ID_MNC_INTERNASIONAL', 'MNC Internasional'),
  bank('HANA', '484', 'ID_HANA', 'KEB Hana, Hana Indonesia'),
]

function bank(
  code: string,
  number: string,
  channel: string,
  names: string,
  digits?: readonly number[],
): BankFacts {
  const list = names === '' ? [] : names.split(', ')
  return { code, number, channel, names: list, ...(digits && { digits }) }
}
