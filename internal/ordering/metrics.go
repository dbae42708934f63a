package ordering

import (
	"errors"
	"strings"

	"comanda/internal/fault"
	"comanda/internal/payment"
)

// Counter is a counter metric. Count adds one under the given label values.
type Counter interface {
	Count(labels ...string)
}

// Metrics counts orders and payments. Labels are in the order given. A nil Metrics counts nothing.
type Metrics struct {
	Created    Counter // result
	Transition Counter // to, cause
	Callback   Counter // method, result
	Step       Counter // kind
}

func (m *Metrics) placed(err error, isNew bool) {
	if m == nil {
		return
	}
	result := "created"
	switch {
	case err != nil:
		result = fault.KindOf(err).String()
	case !isNew:
		result = "repeated"
	}
	m.Created.Count(result)
}

func (m *Metrics) ended(reason CancelReason) {
	if m != nil {
		m.Transition.Count(string(Canceled), string(reason))
	}
}

func (m *Metrics) stepped(kind StepKind) {
	if m != nil {
		m.Step.Count(strings.ToLower(string(kind)))
	}
}

func (m *Metrics) odd(method payment.Method, verdict string) {
	if m != nil {
		m.Callback.Count(string(method), strings.ToLower(verdict))
	}
}

func (m *Metrics) reported(s Settle, r Result, err error) {
	if m == nil {
		return
	}
	result := "ok"
	switch {
	case errors.Is(err, payment.ErrAmount) && s.Source != SourceStaff: // by the staff it is a typing error
		result = "amount_mismatch"
	case err != nil:
		result = fault.KindOf(err).String()
	case !r.Changed:
		result = "dup"
	case s.State == payment.Paid && r.Order.PaymentStatus == RefundDue:
		result = "late"
	}
	m.Callback.Count(string(s.Method), result)
	if err == nil && r.Changed && r.Order.PaymentStatus == Paid {
		m.Transition.Count(string(Paid), s.Source)
	}
}
