package notice

import (
	"slices"
	"strconv"
	"time"

	"comanda/internal/authz"
)

// Kind is the subject of a notice. The values are stored.
type Kind string

// The kinds. The first five are for customers, the others for the staff of a branch.
const (
	OrderPaid     Kind = "ORDER_PAID"
	OrderReady    Kind = "ORDER_READY"
	OrderCanceled Kind = "ORDER_CANCELED" // by the staff
	OrderExpired  Kind = "ORDER_EXPIRED"
	OrderRefunded Kind = "ORDER_REFUNDED"
	StockLow      Kind = "STOCK_LOW" // with no units left: sold out
	RefundDue     Kind = "REFUND_DUE"
	TableCall     Kind = "TABLE_CALL"
	Mismatch      Kind = "PAYMENT_MISMATCH" // a gateway reported another amount than was requested
)

// CustomerKinds returns the kinds for members and guests.
func CustomerKinds() []Kind {
	return []Kind{OrderPaid, OrderReady, OrderCanceled, OrderExpired, OrderRefunded}
}

// StaffKinds returns the kinds for the staff of a branch.
func StaffKinds() []Kind { return []Kind{StockLow, RefundDue, TableCall, Mismatch} }

// route is the route on which staff act on a notice. Who may not use it does not see the notice (N2).
func (k Kind) route() authz.RouteKey {
	switch k {
	case StockLow:
		return authz.RouteKey{Method: "GET", Path: "/api/stock/items"}
	case RefundDue, Mismatch:
		return authz.RouteKey{Method: "GET", Path: "/api/payments/exceptions"}
	default:
		return authz.RouteKey{Method: "POST", Path: "/api/visits/{id}/answer"}
	}
}

// TTL returns how long a notice is worth delivering to a closed page. That a meal was ready this morning is of no use in
// the evening.
func (k Kind) TTL() time.Duration {
	if k == OrderReady {
		return 2 * time.Hour
	}
	return 24 * time.Hour
}

// urgent reports whether a device that saves power is woken, because the guest waits.
func (k Kind) urgent() bool { return k == OrderReady || k == OrderCanceled || k == OrderExpired }

// Urgency returns the Urgency header of RFC 8030.
func (k Kind) Urgency() string {
	if k.urgent() {
		return "high"
	}
	return "normal"
}

// Audience is whom a notice is for: an account (7), a visit (v and its id) or the staff of a branch (b3). The names are
// those of keyspace.Notifications. They are stored.
type Audience string

// AccountAudience returns the audience of one account.
func AccountAudience(id int64) Audience { return Audience(strconv.FormatInt(id, 10)) }

// VisitAudience returns the audience of the guests of a visit.
func VisitAudience(id string) Audience { return Audience("v" + id) }

// BranchAudience returns the audience of the staff of a branch.
func BranchAudience(id int64) Audience { return Audience("b" + strconv.FormatInt(id, 10)) }

// Data fills the text of a notice. Fields that a kind does not have are empty.
type Data struct {
	Number    string `json:"number,omitempty"`    // of the order
	OrderKind string `json:"orderKind,omitempty"` // DINE_IN, PICKUP or DELIVERY
	Amount    int64  `json:"amount,omitempty"`    // minor units
	Currency  string `json:"currency,omitempty"`
	Item      string `json:"item,omitempty"` // name of a stock item, or its SKU
	Left      int64  `json:"left,omitempty"` // units of it
	Table     string `json:"table,omitempty"`
	Reason    string `json:"reason,omitempty"` // of a call: BILL, HELP or WATER
}

// UserNotice is a notice as a reader sees it.
type UserNotice struct {
	ID        string // sorts by time
	Audience  Audience
	Kind      Kind
	EventID   string
	Branch    int64
	OrderID   string // empty if it is not about an order
	Data      Data
	CreatedAt time.Time
	Read      bool
}

// Reader is a person who reads notices: an account with all its devices, or one phone of a visit. ID is a name of
// keyspace.Notifications too, on which the reader's devices learn of read marks.
type Reader struct {
	ID        string
	Audiences []Audience
	Kinds     []Kind // that this reader may see (N2)
	Session   string // login of an account; empty for a guest
}

// hashPart is the number of characters of a token's hash that identify a phone: 96 bits, which fits into a channel's
// name.
const hashPart = 24

// GuestReader returns the reader of a phone of a visit, by the hash of its token.
func GuestReader(visit, tokenHash string) Reader {
	return Reader{
		ID: "g" + tokenHash[:min(len(tokenHash), hashPart)], Audiences: []Audience{VisitAudience(visit)}, Kinds: CustomerKinds(),
	}
}

// AccountReader returns the reader of an account. branches are those that it works in, and may reports which routes it
// may use. Members work in none.
func AccountReader(a authz.Actor, branches []int64, may func(authz.RouteKey) bool) Reader {
	r := Reader{
		ID: string(AccountAudience(a.UserID)), Audiences: []Audience{AccountAudience(a.UserID)}, Kinds: CustomerKinds(),
		Session: a.Session,
	}
	if !authz.IsStaff(a.Role) {
		return r
	}
	for _, b := range branches {
		r.Audiences = append(r.Audiences, BranchAudience(b))
	}
	for _, k := range StaffKinds() {
		if may(k.route()) {
			r.Kinds = append(r.Kinds, k)
		}
	}
	return r
}

// Choice states how a reader wants to get notices of a kind.
type Choice struct {
	Kind Kind
	Bell bool
	Push bool
}

// DefaultChoice returns the choice of a reader that has not chosen. Staff get no notices by push, because consoles are
// open where they work.
func DefaultChoice(k Kind) Choice {
	return Choice{Kind: k, Bell: true, Push: k != OrderPaid && slices.Contains(CustomerKinds(), k)}
}
