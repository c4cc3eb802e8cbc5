// As in the national QRIS register: a PAN with a Luhn check digit, an id, and a size class.
const MERCHANT = {
  pan: '9360091500066123454',
  acquirerId: '006612345',
  nationalId: 'ID1026031234567',
  size: 'UMI',
  categoryCode: '5734',
  name: 'GATEWAY SIMULATOR',
  city: 'JAKARTA PUSAT',
  postalCode: '10110',
}

/**
 * A dynamic QRIS code that banking apps can read: EMVCo merchant-presented TLV with amount and
 * checksum. `reference` (at most 25 letters and digits) makes each code different.
 */
export function qrisString(amount: number, reference: string) {
  const account =
    field('00', 'ID.CO.XENDIT.WWW') + field('01', MERCHANT.pan) + field('02', MERCHANT.acquirerId)
  const national =
    field('00', 'ID.CO.QRIS.WWW') + field('02', MERCHANT.nationalId) + field('03', MERCHANT.size)
  const unsigned = [
    field('00', '01'),
    // 12 marks a code for one payment.
    field('01', '12'),
    field('26', account + field('03', MERCHANT.size)),
    field('51', national),
    field('52', MERCHANT.categoryCode),
    field('53', '360'),
    field('54', String(amount)),
    field('58', 'ID'),
    field('59', MERCHANT.name),
    field('60', MERCHANT.city),
    field('61', MERCHANT.postalCode),
    field('62', field('05', reference) + field('07', 'A01')),
    // The checksum covers its own tag and length.
    '6304',
  ].join('')
  return unsigned + crc16(unsigned).toString(16).toUpperCase().padStart(4, '0')
}

function field(tag: string, value: string) {
  return `${tag}${String(value.length).padStart(2, '0')}${value}`
}

/** Polynomial 0x1021 and initial value 0xFFFF, as EMVCo prescribes for tag 63. */
function crc16(text: string) {
  let crc = 0xffff
  for (const byte of Buffer.from(text, 'utf8')) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++)
      crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff
  }
  return crc
}
