package simway

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"

	"golang.org/x/text/currency"
)

// Decimal is a number of the API as decimal text, such as "12.34": an amount is exact, and a float is not.
// Calculate with Rat or Minor.
type Decimal string

var decimalText = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?$`)

// UnmarshalJSON keeps the number as it stands in the JSON.
func (d *Decimal) UnmarshalJSON(text []byte) error {
	var number json.Number
	if err := json.Unmarshal(text, &number); err != nil {
		return err
	}
	*d = Decimal(number)
	return nil
}

// MarshalJSON writes a JSON number, and refuses what is no decimal.
func (d Decimal) MarshalJSON() ([]byte, error) {
	if !decimalText.MatchString(string(d)) {
		return nil, fmt.Errorf("simway: no decimal: %q", string(d))
	}
	return []byte(d), nil
}

// Rat is the exact number, to add and compare.
func (d Decimal) Rat() (*big.Rat, error) {
	if !decimalText.MatchString(string(d)) {
		return nil, fmt.Errorf("simway: no decimal: %q", string(d))
	}
	number, _ := new(big.Rat).SetString(string(d))
	return number, nil
}

// Minor is the amount in whole minor units, as ISO 4217 counts them: "12.34" of USD is 1234, "500" of XOF is
// 500. A part of one is an error, and so is a currency that does not exist or has none.
func (d Decimal) Minor(iso string) (int64, error) {
	number, err := d.Rat()
	if err != nil {
		return 0, err
	}
	_, scale, err := scaleOf(iso)
	if err != nil {
		return 0, err
	}
	number.Mul(number, new(big.Rat).SetInt(scale))
	if !number.IsInt() || !number.Num().IsInt64() {
		return 0, fmt.Errorf("simway: %s is no whole number of minor units of %s", d, iso)
	}
	return number.Num().Int64(), nil
}

// FromMinor is the amount of so many minor units: 1234 of USD is "12.34".
func FromMinor(minor int64, iso string) (Decimal, error) {
	places, scale, err := scaleOf(iso)
	if err != nil {
		return "", err
	}
	return Decimal(new(big.Rat).SetFrac(big.NewInt(minor), scale).FloatString(places)), nil
}

// withoutMinorUnits has metals, units of account, the code for tests and that for no currency.
var withoutMinorUnits = regexp.MustCompile(`^X(A[GU]|B[A-D]|DR|P[DT]|SU|TS|UA|XX)$`)

// scaleOf has the decimals of a currency, and how many minor units one is.
func scaleOf(iso string) (int, *big.Int, error) {
	unit, err := currency.ParseISO(iso)
	if err != nil {
		return 0, nil, fmt.Errorf("simway: currency %q: %w", iso, err)
	}
	if withoutMinorUnits.MatchString(unit.String()) {
		return 0, nil, fmt.Errorf("simway: currency %q has no minor units", iso)
	}
	places, _ := currency.Standard.Rounding(unit)
	return places, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil), nil
}
