// The secret key of a test account at the vendor, where somebody has one: then the gateway's contract runs on the vendor's own test mode
// as well. Nothing is paid there.

/** SIMWAY_PAYSTACK_TEST_KEY; undefined in a normal run. */
export function paystackTestKey(): string | undefined {
  const key = process.env['SIMWAY_PAYSTACK_TEST_KEY'];
  return key === '' ? undefined : key;
}
