package mail

import (
	"strings"
	"time"
	"unicode/utf8"

	"comanda/internal/fault"
)

// State is the state of a message in the outbox. Messages that were sent are not in it.
type State string

// States of a message.
const (
	Waiting State = "WAITING" // for its first or its next attempt
	Failed  State = "FAILED"  // a dead letter
)

// Entry is a message in the outbox as operators see it: without its content, and with a masked address.
type Entry struct {
	ID        string
	State     State
	Recipient string
	Template  string
	Locale    string
	Branch    int64  // 0 for none
	OrderID   string // empty for none
	Created   time.Time
	Due       time.Time // next attempt of a message that waits
	Attempts  int
	Reason    string // of the last failure; empty for none
}

// CanSendAgain reports whether SendAgain accepts the message.
func (e Entry) CanSendAgain() bool { return e.State == Waiting || !HasCode(e.Template) }

// AgainTTL is the minimum time for which a failed message is retried.
const AgainTTL = 24 * time.Hour

// Faults of sending a message again.
var (
	ErrUnknown  = fault.New(fault.NotFound, "mail_not_found", "This e-mail is not in the list any more.")
	ErrCodeLost = fault.New(fault.Conflict, "mail_code_lost",
		"This e-mail had a code that has expired. The recipient must request a new code.")
)

// MaskAddress returns an e-mail address without its local part but the first character. The domain stays, because
// failures often belong to one.
func MaskAddress(address string) string {
	_, size := utf8.DecodeRuneInString(address)
	if at := strings.LastIndexByte(address, '@'); at >= size {
		return address[:size] + "…" + address[at:]
	}
	return "…"
}
