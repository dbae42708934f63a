package linepay

import (
	"net/url"

	"comanda/internal/fault"
	"comanda/internal/uid"
)

// ErrForm says that a browser came back with something that LINE Pay does not send.
var ErrForm = fault.New(fault.Invalid, "payment_return_invalid", "This is not an address that LINE Pay leads to.")

// maxQuery is the length in bytes of the longest query that is read.
const maxQuery = 2 << 10

// Return is what a browser brings back from LINE Pay to the confirm or the cancel address. Nothing in it is signed: it
// says where to look, never what happened.
type Return struct {
	TransactionID string // 19 digits
	AttemptID     string
}

// Read reads the raw query of such an address. Parameters that LINE Pay adds are let pass; a repeated one is ErrForm.
func Read(rawQuery string) (Return, error) {
	if len(rawQuery) > maxQuery {
		return Return{}, ErrForm
	}
	q, err := url.ParseQuery(rawQuery)
	if err != nil {
		return Return{}, ErrForm
	}
	for _, values := range q {
		if len(values) != 1 {
			return Return{}, ErrForm
		}
	}
	r := Return{TransactionID: q.Get("transactionId"), AttemptID: q.Get("orderId")}
	if !transaction.MatchString(r.TransactionID) || !uid.Valid(r.AttemptID) {
		return Return{}, ErrForm
	}
	return r, nil
}
