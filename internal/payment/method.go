package payment

import "comanda/internal/money"

// Methods is the set of payment methods that this installation offers. It is not changed after NewMethods, so it needs
// no lock. A method that is no longer offered may still occur in stored attempts.
type Methods struct{ offered map[Method]bool }

// NewMethods returns the given methods and the counter, which is always offered.
func NewMethods(others ...Method) Methods {
	m := Methods{map[Method]bool{Counter: true}}
	for _, o := range others {
		m.offered[o] = true
	}
	return m
}

// Check returns ErrMethod for a method that is not offered.
func (m Methods) Check(method Method) error {
	if m.offered[method] {
		return nil
	}
	return ErrMethod
}

// Sandbox reports whether the sandbox gateway is enabled.
func (m Methods) Sandbox() bool { return m.offered[Sandbox] }

// Remote reports whether guests pay on an external gateway's page. Only these methods have pages to redirect to and
// refunds to send.
func (m Method) Remote() bool { return m == VNPay || m == LINEPay }

// VNPay accepts at least vnpayMin and less than vnpayLimit dong (its manual: "from 5,000 to below 1 billion").
const vnpayMin, vnpayLimit = 5_000, 1_000_000_000

// CheckAmount refuses an amount that a method does not support, before an order is placed that could not be paid.
func (m Method) CheckAmount(amount int64, c money.Currency) error {
	ok := true
	switch m {
	case VNPay:
		ok = c == money.VND && amount >= vnpayMin && amount < vnpayLimit
	// LINE Pay refuses every other currency (1178).
	case LINEPay:
		ok = amount > 0 && (c == money.TWD || c == money.THB || c == money.USD)
	}
	if !ok {
		return ErrUnsuitable
	}
	return nil
}
