package payment

import "comanda/internal/money"

// Methods are the ways to pay that this installation offers.
type Methods struct{ offered map[Method]bool }

// NewMethods offers the counter, and whatever else is named.
func NewMethods(others ...Method) Methods {
	m := Methods{map[Method]bool{Counter: true}}
	for _, o := range others {
		m.offered[o] = true
	}
	return m
}

// Check gives a fault for a method that is not offered.
func (m Methods) Check(method Method) error {
	if m.offered[method] {
		return nil
	}
	return ErrMethod
}

// Sandbox tells whether the sandbox gateway is enabled.
func (m Methods) Sandbox() bool { return m.offered[Sandbox] }

// Remote tells whether the guest pays on somebody else's page, and the money moves there.
func (m Method) Remote() bool { return m == VNPay || m == LINEPay }

// VNPay takes from 5,000 to less than a thousand million dong: what its payment page answers otherwise.
const vnpayLeast, vnpayBelow = 5_000, 1_000_000_000

// Suits refuses an amount that a method cannot take, before an order is made that nobody could pay.
func (m Method) Suits(amount int64, c money.Currency) error {
	ok := true
	switch m {
	case VNPay:
		ok = c == money.VND && amount >= vnpayLeast && amount < vnpayBelow
	case LINEPay:
		ok = amount > 0 && (c == money.TWD || c == money.THB || c == money.USD)
	}
	if !ok {
		return ErrUnsuitable
	}
	return nil
}
