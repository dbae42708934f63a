package price

// Rounding determines how a fraction of the smallest unit is rounded. Square rounds taxes HALF_EVEN, Clover HALF_UP,
// Japanese restaurants usually DOWN; Toast offers HALF_UP, HALF_EVEN, always up and always down.
type Rounding string

// The roundings. No amount is negative where they apply, so UP is towards infinity.
const (
	HalfUp   Rounding = "HALF_UP"
	HalfEven Rounding = "HALF_EVEN"
	HalfDown Rounding = "HALF_DOWN"
	Up       Rounding = "UP"
	Down     Rounding = "DOWN"
)

// roundings lists all roundings.
var roundings = []Rounding{HalfUp, HalfEven, HalfDown, Up, Down}

// share returns amount*part/of, rounded. The arguments are not negative, of is positive, and the result fits.
func (r Rounding) share(amount, part, of int64) int64 {
	q, rem := mulDiv(uint64(amount), uint64(part), uint64(of)) //nolint:gosec // not negative
	rest := uint64(of) - rem                                   //nolint:gosec // positive
	up := false
	switch r {
	case HalfUp:
		up = rem >= rest
	case HalfEven:
		up = rem > rest || rem == rest && q%2 == 1
	case HalfDown:
		up = rem > rest
	case Up:
		up = rem > 0
	case Down:
	}
	if up {
		q++
	}
	return int64(q) //nolint:gosec // a share of an amount
}
