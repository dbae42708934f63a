package ordering

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"comanda/internal/account"
	"comanda/internal/catalog"
	"comanda/internal/money"
	"comanda/internal/payment"
	"comanda/internal/stock"
	"comanda/internal/strictjson"
	"comanda/internal/text"
	"comanda/internal/uid"
)

// historyOrder is an order as a line of the file.
type historyOrder struct {
	ID              string         `json:"id"`
	BranchID        string         `json:"branchId"`
	BizDate         string         `json:"bizDate"` // empty: that of createdAt
	Number          int64          `json:"number"`  // 0: the next one
	Kind            Kind           `json:"kind"`
	PaymentStatus   PaymentStatus  `json:"paymentStatus"`
	PaymentMethod   payment.Method `json:"paymentMethod"`
	TotalPrice      int64          `json:"totalPrice"`
	Currency        money.Currency `json:"currency"`
	UserID          string         `json:"userId"`
	ReceiverName    string         `json:"receiverName"`
	ReceiverPhone   string         `json:"receiverPhone"`
	ReceiverAddress string         `json:"receiverAddress"`
	ReceiverEmail   string         `json:"receiverEmail"`
	ReceiverNote    string         `json:"receiverNote"`
	CreatedAt       time.Time      `json:"createdAt"`
	PaidAt          time.Time      `json:"paidAt"`
	EndedAt         time.Time      `json:"endedAt"`        // refunded, fully or in part, or cancelled
	RefundedAmount  int64          `json:"refundedAmount"` // of a paid order: a part of totalPrice
	Items           []historyItem  `json:"items"`
}

// historyItem is a line of an order. A dish is named by its id, or by its name in any language.
type historyItem struct {
	DishID   string `json:"dishId"`
	Name     string `json:"name"`
	Quantity int64  `json:"quantity"`
	Price    int64  `json:"price"`
	Notes    string `json:"notes"`
}

// historyID are the ids of other systems that are accepted.
var historyID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// parse returns the order of a line.
func (p *historyPass) parse(ctx context.Context, line []byte) (*Order, error) {
	var h historyOrder
	if err := strictjson.Decode(line, &h); err != nil {
		return nil, err
	}
	if !historyID.MatchString(h.ID) {
		return nil, errors.New("the id has 1 to 64 of the characters A-Z a-z 0-9 . _ -")
	}
	branch, err := p.branch(ctx, h.BranchID)
	if err != nil {
		return nil, err
	}
	o := &Order{
		ID: historyOrderID(branch.ID, h), Kind: h.Kind, ClientTxnID: historyKey(branch.ID, h), Digest: HistoryDigest, Version: 1,
		Number: h.Number, Total: h.TotalPrice, Currency: h.Currency, Method: h.PaymentMethod, CreatedAt: h.CreatedAt.UTC(),
	}
	o.HoldID = o.ID
	o.PayBy, o.ExpiresAt, o.UpdatedAt = o.CreatedAt, o.CreatedAt, o.CreatedAt
	if o.Method == "" {
		o.Method = payment.Counter
	}
	for _, set := range []func(*Order, historyOrder, catalog.Branch) error{
		checkAmount, p.setDate, setPayment, p.checkTimes, setReceiver, p.setItems,
	} {
		if err := set(o, h, branch); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// branch returns a branch by its id in the file. It keeps found ones, because a file has many orders of few branches.
func (p *historyPass) branch(ctx context.Context, id string) (catalog.Branch, error) {
	if b, ok := p.known[id]; ok {
		return b, nil
	}
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return catalog.Branch{}, fmt.Errorf("branchId %q is not an id", id)
	}
	b, err := p.Branches.Branch(ctx, n)
	if errors.Is(err, catalog.ErrBranch) {
		return b, fmt.Errorf("branch %d does not exist", n)
	}
	if err != nil {
		return b, storeError{err}
	}
	p.known[id] = b
	return b, nil
}

// historyOrderID returns the id of an imported order: its own if it has the form of an id here, else one that sorts by the
// order's time and always results from the same line. So a second import of a file finds its orders.
func historyOrderID(branch int64, h historyOrder) string {
	if uid.Valid(h.ID) {
		return h.ID
	}
	return uid.Named(h.CreatedAt, "order", strconv.FormatInt(branch, 10), h.ID)
}

// historyKey returns the key of an imported order. It contains the branch, because the keys of a member are unique in all
// branches.
func historyKey(branch int64, h historyOrder) string {
	return historyPrefix + strconv.FormatInt(branch, 10) + ":" + h.ID
}

// setDate sets the business date, which has passed: today's counters belong to the orders that are placed here.
func (p *historyPass) setDate(o *Order, h historyOrder, b catalog.Branch) error {
	calendar := b.Calendar()
	if h.CreatedAt.IsZero() || h.CreatedAt.Year() < 1980 {
		return errors.New("createdAt is missing or before 1980")
	}
	own := calendar.BizDate(h.CreatedAt)
	o.Scope = stock.Scope{Branch: b.ID, Date: h.BizDate}
	if h.BizDate == "" {
		o.Scope.Date = own
	}
	date, err := time.Parse(time.DateOnly, o.Scope.Date)
	if err != nil {
		return fmt.Errorf("bizDate %q is not a date like 2026-02-26", o.Scope.Date)
	}
	at, _ := time.Parse(time.DateOnly, own)
	if days := date.Sub(at).Hours() / 24; days < -1 || days > 1 {
		return fmt.Errorf("bizDate %s is not that of createdAt, which is %s", o.Scope.Date, own)
	}
	if today := calendar.BizDate(p.Now()); o.Scope.Date >= today {
		return fmt.Errorf("bizDate %s has not passed", o.Scope.Date)
	}
	return nil
}

func checkAmount(_ *Order, h historyOrder, b catalog.Branch) error {
	switch {
	case h.Currency != b.Currency:
		return fmt.Errorf("the currency of the branch is %s, not %q", b.Currency, h.Currency)
	case h.TotalPrice < 0 || h.TotalPrice > money.Max:
		return fmt.Errorf("totalPrice must be from 0 to %d", money.Max)
	case h.Number < 0 || h.Number > 1_000_000:
		return errors.New("number is 1 to 1000000, or 0 for the next one")
	}
	return nil
}

// setPayment sets the end of the order. Only closed orders are imported: an unpaid order needs a hold with a deadline, and a
// refund that is due needs a gateway that knows the payment.
func setPayment(o *Order, h historyOrder, _ catalog.Branch) error {
	if !slices.Contains([]payment.Method{payment.Counter, payment.VNPay, payment.LINEPay}, o.Method) {
		return fmt.Errorf("paymentMethod %q is none of %s, %s and %s", o.Method, payment.Counter, payment.VNPay, payment.LINEPay)
	}
	o.PaymentStatus, o.PaidAt = h.PaymentStatus, h.PaidAt.UTC()
	if h.Kind != DineIn && h.Kind != Delivery && h.Kind != PickUp {
		return fmt.Errorf("kind %q is none of %s, %s and %s", h.Kind, DineIn, Delivery, PickUp)
	}
	if o.Status = Completed; h.Kind == DineIn {
		o.Status = Served
	}
	ended := h.EndedAt.UTC()
	switch h.PaymentStatus {
	case Paid:
		o.Refunded, o.UpdatedAt = h.RefundedAmount, o.PaidAt
		if o.Refunded != 0 {
			o.UpdatedAt = ended
		}
	case Refunded:
		o.Refunded, o.UpdatedAt = o.Total, ended
	case PaymentCanceled:
		o.Status, o.CancelReason, o.CanceledAt, o.UpdatedAt = Canceled, StaffCanceled, ended, ended
	default:
		return fmt.Errorf("paymentStatus %q is none of %s, %s and %s", h.PaymentStatus, Paid, Refunded, PaymentCanceled)
	}
	paid, over := h.PaymentStatus != PaymentCanceled, h.PaymentStatus != Paid || h.RefundedAmount != 0
	switch {
	case h.RefundedAmount < 0 || h.PaymentStatus == Paid && h.RefundedAmount >= max(1, h.TotalPrice):
		return fmt.Errorf("refundedAmount is a part of totalPrice; an order that was refunded in full is %s", Refunded)
	case h.RefundedAmount != 0 && h.RefundedAmount != o.Refunded:
		return fmt.Errorf("refundedAmount is totalPrice if the order is %s, and missing if it is %s", Refunded, PaymentCanceled)
	case paid == h.PaidAt.IsZero():
		return errors.New("paidAt is the time of payment of an order that was paid, and missing otherwise")
	case over == h.EndedAt.IsZero():
		return errors.New("endedAt is the time of the refund, also of a part, or of the cancellation, and missing otherwise")
	case paid && h.PaidAt.Before(h.CreatedAt) || over && ended.Before(h.CreatedAt):
		return errors.New("the order ends before createdAt")
	}
	return nil
}

// checkTimes refuses times that no closed order has, such as a payment in a mistyped year: reports and lists would show it
// on that date.
func (p *historyPass) checkTimes(_ *Order, h historyOrder, _ catalog.Branch) error {
	now := p.Now()
	switch {
	case h.PaidAt.After(now):
		return errors.New("paidAt is in the future")
	case h.EndedAt.After(now):
		return errors.New("endedAt is in the future")
	case !h.EndedAt.IsZero() && h.EndedAt.Before(h.PaidAt):
		return errors.New("endedAt is before paidAt: a refund follows its payment")
	}
	return nil
}

// setReceiver sets the member and the receiver. Old records may lack parts of a receiver that a new order needs.
func setReceiver(o *Order, h historyOrder, _ catalog.Branch) error {
	if h.UserID != "" {
		id, err := strconv.ParseInt(h.UserID, 10, 64)
		if err != nil || id <= 0 {
			return fmt.Errorf("userId %q is not an id", h.UserID)
		}
		o.UserID = id
	}
	r := &o.Receiver
	for _, f := range []struct {
		name, value string
		into        *string
		kind        text.Kind
		most        int
	}{
		{"receiverName", h.ReceiverName, &r.Name, text.Line, MaxReceiverName},
		{"receiverAddress", h.ReceiverAddress, &r.Address, text.Line, MaxAddress},
		{"receiverNote", h.ReceiverNote, &r.Note, text.Lines, MaxReceiverNote},
	} {
		clean, err := f.kind.Clean(f.value)
		if err != nil || !lengthWithin(clean, 0, f.most) {
			return fmt.Errorf("%s is plain text of at most %d characters", f.name, f.most)
		}
		*f.into = clean
	}
	var ok bool
	if r.Phone, ok = account.NormalizePhone(h.ReceiverPhone); !ok && h.ReceiverPhone != "" {
		return errors.New("receiverPhone is not a telephone number")
	}
	if r.Email, ok = account.NormalizeEmail(h.ReceiverEmail); !ok && h.ReceiverEmail != "" {
		return errors.New("receiverEmail is not an e-mail address")
	}
	return nil
}

// setItems sets the items of an imported order. Its limits are wider than those of new orders: other systems had their own,
// and the sales must match their reports.
func (p *historyPass) setItems(o *Order, h historyOrder, b catalog.Branch) error {
	if len(h.Items) == 0 || len(h.Items) > maxHistoryLines {
		return fmt.Errorf("an order has 1 to %d items", maxHistoryLines)
	}
	for i, it := range h.Items {
		dish, names, err := p.names.find(it)
		if err != nil {
			return fmt.Errorf("item %d: %w", i+1, err)
		}
		notes, err := text.Lines.Clean(it.Notes)
		switch {
		case err != nil || !lengthWithin(notes, 0, MaxNotes):
			return fmt.Errorf("item %d: notes are plain text of at most %d characters", i+1, MaxNotes)
		case it.Quantity < 1 || it.Quantity > maxHistoryQty:
			return fmt.Errorf("item %d: quantity must be from 1 to %d", i+1, maxHistoryQty)
		case it.Price < 0 || it.Price > money.Max/maxHistoryQty:
			return fmt.Errorf("item %d: price must be from 0 to %d", i+1, money.Max/maxHistoryQty)
		}
		// The name on the receipt may have been another one than the dish has now.
		name, err := text.Line.Clean(it.Name)
		if err != nil || !lengthWithin(name, 0, maxHistoryName) {
			return fmt.Errorf("item %d: name must be one line of at most %d characters", i+1, maxHistoryName)
		}
		if name == "" {
			name = names.In(b.Locales...)
		}
		o.Items = append(o.Items, Item{
			DishID: dish, Name: name, Names: names.Encode(b.Locales...), Price: it.Price, Qty: it.Quantity, Notes: notes,
		})
	}
	return nil
}

// maxHistoryName is the longest name of a dish on an imported line.
const maxHistoryName = 200

// dishNames finds dishes by id and by name.
type dishNames struct {
	byID   map[int64]catalog.Texts
	byName map[string][]int64 // by folded name
}

func newDishNames(all map[int64]catalog.Texts) *dishNames {
	d := &dishNames{byID: all, byName: map[string][]int64{}}
	for id, names := range all {
		for _, name := range names {
			folded := text.Fold(name)
			if !slices.Contains(d.byName[folded], id) {
				d.byName[folded] = append(d.byName[folded], id)
			}
		}
	}
	return d
}

// find returns the dish of a line.
func (d *dishNames) find(it historyItem) (int64, catalog.Texts, error) {
	if it.DishID != "" {
		id, err := strconv.ParseInt(it.DishID, 10, 64)
		names, ok := d.byID[id]
		if err != nil || !ok {
			return 0, nil, fmt.Errorf("dish %q does not exist", it.DishID)
		}
		return id, names, nil
	}
	switch found := d.byName[text.Fold(it.Name)]; len(found) {
	case 0:
		return 0, nil, fmt.Errorf("no dish is called %q: create it, it may be retired", it.Name)
	case 1:
		return found[0], d.byID[found[0]], nil
	default:
		return 0, nil, fmt.Errorf("%d dishes are called %q: name one by dishId", len(found), it.Name)
	}
}
