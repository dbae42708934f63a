package mail

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"comanda/internal/fault"
	"comanda/internal/queue"
	"comanda/internal/text"
)

// QueuedMessage is a message in the outbox. Fields that contain codes are encrypted (E3). Template and Locale select the
// text when the message is sent, so that a correction of a template applies to waiting messages too.
type QueuedMessage struct {
	ID        string
	Recipient string // an e-mail address
	Template  string
	Locale    string
	Fields    map[string]string
	Branch    int64  // branch that it is about; 0 for none, as for e-mails about an account
	OrderID   string // order that it is about; such an e-mail has no Fields, see Sender.OrderContent
	Subject   string // what else it is about, such as the refund of the order; empty for nothing
	Created   time.Time
	Expires   time.Time
	Attempts  int // including the current one
}

// TemplateData fills a template. Texts of users are cleaned when the template is filled (E4).
type TemplateData struct {
	Fields map[string]string
	Lists  map[string][]map[string]string // rows by the name of their list
	Links  []string                       // lines of the text that are links in the HTML part
	Accent string                         // colour such as #a8321f; empty for none

	// Unsubscribe is an address that withdraws the consent to such e-mails; empty if they need none. See Message.
	Unsubscribe string
}

// Message is a rendered message. It exists in memory only.
type Message struct {
	ID      string // id of the QueuedMessage; becomes the Message-ID
	To      string
	From    text.Mailbox // an empty name or address is that of the transport
	Date    time.Time
	Subject string
	Text    string
	HTML    string
	// Unsubscribe is for the header List-Unsubscribe; empty for none. If it begins with https, mail programs may post to it
	// without asking (RFC 8058).
	Unsubscribe string
}

// Transport sends messages to a server, or writes them to a folder. Send returns ErrRefused for a message that will
// never be accepted and ErrUnreachable when nothing can be sent now; any other error concerns this message. It ends
// within SendTimeout.
type Transport interface {
	Send(ctx context.Context, m Message) error
}

// Errors of a Transport.
var (
	ErrRefused     = errors.New("mail: the server will never accept this message")
	ErrUnreachable = errors.New("mail: the server is out of reach")
	// ErrLogin is joined to one of the other errors if the server refuses the user name or the password, or requires
	// them.
	ErrLogin = errors.New("mail: the server refuses the login")
)

// ReplyError is a refusal by a mail server. It has only the codes, because the text may quote the message (E3).
type ReplyError struct {
	Code     int    // such as 550
	Enhanced string // such as 5.1.1; empty if the server sends none
}

func (e *ReplyError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", e.Code, e.Enhanced))
}

// ErrObsolete reports that an e-mail is no longer true, such as a request to pay an order that was paid meanwhile. It
// is deleted unsent, like an expired one (E1).
var ErrObsolete = errors.New("mail: the e-mail is obsolete")

// Store stores the outbox, normally mailsql.
type Store interface {
	// Claim returns up to limit due messages, counts the attempt, and hides them from other claims until a time.
	Claim(ctx context.Context, now, until time.Time, limit int) ([]QueuedMessage, error)
	// Settle deletes a message that was sent, or will not be. For a mailing it records which.
	Settle(ctx context.Context, q QueuedMessage, sent bool) error
	// RecordFailures stores when messages are tried again, or that they are dead letters, also for their mailings.
	RecordFailures(ctx context.Context, now time.Time, failures ...queue.Failure) error
}

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
	ErrUnknown  = fault.New(fault.NotFound, "mail_not_found", "This e-mail is no longer in the list.")
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
