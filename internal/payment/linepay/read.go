package linepay

import (
	"net/url"

	"comanda/internal/fault"
	"comanda/internal/uid"
)

// ErrForm refuses a query that LINE Pay does not send.
var ErrForm = fault.New(fault.Invalid, "payment_return_invalid", "This is not a valid return from LINE Pay.")

// maxQuery is the maximum length of a query in bytes. LINE Pay's two parameters have about 70.
const maxQuery = 2 << 10

// Return is the query with which LINE Pay redirects a browser to the confirm or cancel URL. It is not signed: it says
// which payment to check, never what happened. Anyone can send one, so the caller asks LINE Pay before it believes it.
type Return struct {
	TransactionID string // 19 digits
	AttemptID     string
}

// Read parses the raw query of such a URL. It ignores other parameters; a repeated one is ErrForm.
func Read(rawQuery string) (Return, error) {
	if len(rawQuery) > maxQuery {
		return Return{}, ErrForm
	}
	q, err := url.ParseQuery(rawQuery)
	if err != nil {
		return Return{}, ErrForm
	}
	// Two values of one name could be read differently here and by whatever stands in front of this server.
	for _, values := range q {
		if len(values) != 1 {
			return Return{}, ErrForm
		}
	}
	r := Return{TransactionID: q.Get("transactionId"), AttemptID: q.Get("orderId")}
	if !transactionID.MatchString(r.TransactionID) || !uid.Valid(r.AttemptID) {
		return Return{}, ErrForm
	}
	return r, nil
}
