package ordering_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"comanda/internal/audit"
	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/fault"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/price"
	"comanda/internal/stock"
	"comanda/internal/testenv"
)

var cashier = authz.Actor{Kind: authz.Account, UserID: 7, Branches: []int64{1}}

// paymentStory applies commands about order "a", of three units, one per batch. A story's words are "verb" or
// "verb:argument". The result of the last command is kept.
type paymentStory struct {
	t rapid.TB
	b *ordering.Batch
	r ordering.Result
}

func newPaymentStory(t rapid.TB, story string) *paymentStory {
	t.Helper()
	p := &paymentStory{t: t, b: batch()}
	c := place("a", 3)
	c.Order.PayBy = now.Add(time.Minute)
	c.Order.Method, c.Order.PaymentRef = payment.LINEPay, "a-a"
	p.do(c)
	p.run(story)
	return p
}

// do runs a command. A nil command, such as that of "pass", changes nothing.
func (p *paymentStory) do(c ordering.Command) {
	if p.r = (ordering.Result{}); c != nil {
		p.r = p.b.Decide([]ordering.Command{c})[0]
	}
}

func (p *paymentStory) run(story string) {
	p.t.Helper()
	for word := range strings.FieldsSeq(strings.ReplaceAll(story, " then ", " ")) {
		verb, arg, _ := strings.Cut(word, ":")
		c, ok := p.command(verb, arg)
		if !ok {
			p.t.Fatalf("there is no command %q", word)
		}
		p.do(c)
	}
}

func (p *paymentStory) command(verb, arg string) (ordering.Command, bool) {
	switch verb {
	case "pass":
		d := testenv.Must(time.ParseDuration(arg))(p.t)
		p.b.Now = p.b.Now.Add(d)
		return nil, true
	case "other": // another guest orders all remaining units
		return place("b", 5), true
	case "end":
		c := end("a", ordering.CancelReason(arg))
		c.By = cashier
		return c, true
	case "try":
		return &ordering.AddAttempt{
			OrderID: "o-a", Attempt: payment.Attempt{ID: arg, OrderID: "o-a", Method: payment.VNPay},
		}, true
	case "redirect", "redirectB":
		page := payment.Page{URL: "https://pay.example/" + arg, Ref: "ref-" + arg}
		return &ordering.Redirect{OrderID: "o-a", AttemptID: attemptID(verb), Page: page}, true
	case "discount": // discount:PERCENT; without an argument it removes the discount
		return discountBy(price.Percent(arg)), true
	case "unoffered": // unoffered:PERCENT, a discount when no gateway is configured
		c := discountBy(price.Percent(arg))
		c.Methods = payment.NewMethods()
		return c, true
	case "more": // more:DURATION, from placement to the deadline that the client saw
		d := testenv.Must(time.ParseDuration(arg))(p.t)
		return &ordering.ExtendDeadline{OrderID: "o-a", PayBy: now.Add(d)}, true
	case "confirm", "confirmB":
		c := ordering.Confirm{OrderID: "o-a", AttemptID: attemptID(verb), From: payment.Redirected}
		switch arg {
		case "again": // the caller has seen the current state
			c.From = p.attempt(c.AttemptID).State
		case "": // the guest returned from the gateway
		default:
			c.From = payment.State(arg)
		}
		return &c, true
	}
	return p.money(verb, arg)
}

func (p *paymentStory) money(verb, arg string) (ordering.Command, bool) {
	switch verb {
	case "said", "saidB", "asked", "late", "short", "foreign":
		c := ordering.Settle{
			OrderID: "o-a", AttemptID: attemptID(verb), State: payment.State(arg), Source: ordering.SourceCallback, Today: scope.Date,
		}
		switch verb {
		case "asked":
			c.Source = ordering.SourceCheck
		case "late":
			c.Today = "2026-02-27"
		case "short":
			c.Amount = 2999
		case "foreign":
			c.Amount, c.Currency = 3000, "TWD"
		}
		return &c, true
	case "refused", "refusedB": // the gateway creates no page
		return &ordering.Settle{
			OrderID: "o-a", AttemptID: attemptID(verb), State: payment.Failed, From: payment.Created, Source: ordering.SourceCallback,
			Raw: `{"returnCode":"1104"}`, Today: scope.Date,
		}, true
	case "counter":
		c := pay("a")
		c.Method, c.Source, c.Amount, c.By = payment.Counter, ordering.SourceStaff, p.order().Total, cashier
		return c, true
	case "refund":
		d, _ := time.ParseDuration(arg + "ns") // parses an integer
		return &ordering.Refund{
			OrderID: "o-a", NewID: "r" + arg, Amount: int64(d), Note: "cold", By: cashier,
		}, true
	case "key": // key:AMOUNT, always under the same idempotency key
		d, _ := time.ParseDuration(arg + "ns")
		return &ordering.Refund{
			OrderID: "o-a", NewID: "k" + arg, Amount: int64(d), Note: "cold", By: cashier, ClientTxnID: "k",
		}, true
	case "portal": // portal:REFERENCE or portal:REFERENCE/AMOUNT
		ref, amount, found := strings.Cut(arg, "/")
		c := ordering.Refund{OrderID: "o-a", NewID: "r" + arg, Amount: 1000, ByHand: true, Reference: ref, Note: "seen", By: cashier}
		if found {
			d, _ := time.ParseDuration(amount + "ns")
			c.Amount = int64(d)
		}
		return &c, true
	case "sent", "byhand": // sent:STATE by the gateway, byhand:STATE by the staff, of the newest refund
		f := ordering.RecordRefundResult{OrderID: "o-a", State: payment.RefundState(arg), Ref: "9", Code: "00"}
		if all := p.b.RefundsByOrder["o-a"]; len(all) > 0 {
			f.RefundID = all[len(all)-1].ID
		}
		if verb == "byhand" {
			f.By, f.Note, f.Ref, f.Code = cashier, "portal", "", ""
		}
		return &f, true
	}
	return nil, false
}

// discountBy returns the command for a discount of order "a", or for its removal.
func discountBy(percent price.Percent) *ordering.SetDiscount {
	rules := catalog.Pricing{}.Filled()
	c := ordering.SetDiscount{
		OrderID: "o-a", NewID: "d" + string(percent), By: owner,
		Methods: payment.NewMethods(payment.VNPay, payment.LINEPay),
		Input: price.Input{
			Currency: "VND", PriceMode: rules.PriceMode, TaxScope: rules.TaxScope, TaxRounding: rules.TaxRounding,
			DiscountRounding: rules.DiscountRounding, Lines: []price.Line{{Qty: 3, UnitPrice: 1000}},
		},
	}
	if percent != "" {
		c.Kind, c.Value = &catalog.DiscountKind{Code: "REGULAR"}, price.Discount{Percent: percent}
	}
	return &c
}

// attemptID returns "b" for verbs that end in a capital B, or else the id of the first attempt.
func attemptID(verb string) string {
	if strings.HasSuffix(verb, "B") {
		return "b"
	}
	return "a-a"
}

func (p *paymentStory) order() ordering.Order { return *p.b.Orders["o-a"] }

func (p *paymentStory) attempt(id string) payment.Attempt {
	for _, a := range p.b.Attempts["o-a"] {
		if a.ID == id {
			return a
		}
	}
	return payment.Attempt{}
}

// balanced checks I6 for one order: captured money minus refunds equals the remaining total of a PAID order, or else
// zero.
func (p *paymentStory) balanced() {
	p.t.Helper()
	var captured, refunded int64
	for _, a := range p.b.Attempts["o-a"] {
		if a.State == payment.Paid {
			captured += a.Amount
		}
	}
	for _, r := range p.b.RefundsByOrder["o-a"] {
		refunded += r.Amount
	}
	want, o := int64(0), p.order()
	if o.PaymentStatus == ordering.Paid {
		want = o.Total - o.Refunded
	}
	if captured-refunded != want {
		p.t.Errorf("%d captured, %d to be given back, and the order of %d is %s with %d refunded", captured, refunded, o.Total,
			o.PaymentStatus, o.Refunded)
	}
}

// A report of another amount or currency is recorded if the money may have moved.
func TestBatch_mismatches(t *testing.T) {
	for story, want := range map[string]int{
		"redirect:1 said:PAID": 0, "redirect:1 short:FAILED": 0, "redirect:1 short:REDIRECTED": 0, "redirect:1 short:PAID": 1,
		"redirect:1 foreign:PAID": 1, "redirect:1 short:REVIEW": 1, "redirect:1 said:REVIEW": 0, "redirect:1 said:PAID short:PAID": 1,
		"counter": 0,
	} {
		p := newPaymentStory(t, story)
		if len(p.b.Mismatches) != want {
			t.Errorf("%s: mismatches %+v, want %d", story, p.b.Mismatches, want)
		}
		for _, m := range p.b.Mismatches {
			if m.AttemptID != "a-a" || m.OrderID != "o-a" || m.Amount < 2999 || m.Currency == "" || !m.ReportedAt.Equal(p.b.Now) {
				t.Errorf("%s: mismatch %+v, want attempt a-a of order o-a, reported now", story, m)
			}
		}
		p.balanced()
	}
}

// Gateways, guests and staff change the state of an order and its first attempt.
func TestBatch_attempts(t *testing.T) {
	const line, begun = "redirect:1", "redirect:1 confirm"
	for _, c := range []struct {
		name, story string
		order       ordering.PaymentStatus
		attempt     payment.State
		changed     bool // by the last command
		err         error
	}{
		{"redirect", line, ordering.Unpaid, payment.Redirected, true, nil},
		{"redirect again", "redirect:1 redirect:2", ordering.Unpaid, payment.Redirected, false, nil},
		{"redirect of an unknown attempt", "redirectB:1", ordering.Unpaid, payment.Created, false, payment.ErrAttempt},
		{"confirm before a page", "confirm", ordering.Unpaid, payment.Created, false, nil},
		{"confirm", begun, ordering.Confirming, payment.Confirming, true, nil},
		{"confirm twice", begun + " confirm", ordering.Confirming, payment.Confirming, false, nil},
		{"confirm again", begun + " confirm:again", ordering.Confirming, payment.Confirming, true, nil},
		{"confirm of an unknown attempt", line + " confirmB", ordering.Unpaid, payment.Redirected, false, payment.ErrAttempt},
		{"confirm a failed one", line + " said:FAILED confirm:again", ordering.Unpaid, payment.Failed, false, nil},
		{"confirm one under review", line + " said:REVIEW confirm:again", ordering.Unpaid, payment.Review, false, nil},
		{"confirm when cancelled", line + " end:USER_CANCELED confirm", ordering.PaymentCanceled, payment.Redirected, false, nil},
		{"confirm when paid", line + " counter confirm", ordering.Paid, payment.Redirected, false, nil},
		{"confirm on the deadline", line + " pass:60s confirm", ordering.Unpaid, payment.Redirected, false, nil},
		{"confirm just before", line + " pass:59999ms confirm", ordering.Confirming, payment.Confirming, true, nil},
		{"confirmed", begun + " said:PAID", ordering.Paid, payment.Paid, true, nil},
		{"confirmed twice", begun + " said:PAID asked:PAID", ordering.Paid, payment.Paid, false, nil},
		{"not confirmed", begun + " said:FAILED", ordering.Unpaid, payment.Failed, true, nil},
		{"no response", begun + " said:UNKNOWN", ordering.Confirming, payment.Unknown, true, nil},
		{"no response, then paid", begun + " said:UNKNOWN asked:PAID", ordering.Paid, payment.Paid, true, nil},
		{"no response, then failed", begun + " said:UNKNOWN asked:FAILED", ordering.Unpaid, payment.Failed, true, nil},
		{"no response, then nothing had happened", begun + " said:UNKNOWN asked:REDIRECTED", ordering.Unpaid, payment.Redirected, true, nil},
		{"no response, then again", begun + " said:UNKNOWN confirm:again", ordering.Confirming, payment.Confirming, true, nil},
		{"no response, then again, twice", begun + " said:UNKNOWN confirm:UNKNOWN then confirm:UNKNOWN", ordering.Confirming, payment.Confirming, false, nil},
		{"asked about before the guest came back", "redirect:1 confirm confirm:REDIRECTED", ordering.Confirming, payment.Confirming, false, nil},
		{"no response, without a request to repeat", begun + " said:UNKNOWN confirm", ordering.Confirming, payment.Unknown, false, nil},
		{"under review", begun + " said:REVIEW", ordering.Unpaid, payment.Review, true, nil},
		{"looked at and paid", begun + " said:REVIEW said:PAID", ordering.Paid, payment.Paid, true, nil},
		{"failed, then paid", line + " said:FAILED said:PAID", ordering.Paid, payment.Paid, true, nil},
		{"paid, then failed", line + " said:PAID said:FAILED", ordering.Paid, payment.Paid, false, nil},
		{"doubt without a confirmation", line + " said:UNKNOWN", ordering.Unpaid, payment.Redirected, false, nil},
		{"too little", line + " short:PAID", ordering.Unpaid, payment.Redirected, false, payment.ErrAmount},
		{"other money", line + " foreign:PAID", ordering.Unpaid, payment.Redirected, false, payment.ErrAmount},
		{"too little was taken", begun + " short:REVIEW", ordering.Unpaid, payment.Review, true, nil},
		{"guest cancels while confirming", begun + " end:USER_CANCELED", ordering.Confirming, payment.Confirming, false, ordering.ErrConfirming},
		{"staff cancel while confirming", begun + " end:STAFF_CANCELED", ordering.Confirming, payment.Confirming, false, ordering.ErrConfirming},
		{"counter while confirming", begun + " counter", ordering.Confirming, payment.Confirming, false, ordering.ErrConfirming},
		{"another try while confirming", begun + " try:b", ordering.Confirming, payment.Confirming, false, ordering.ErrConfirming},
		{"another try when paid", line + " said:PAID try:b", ordering.Paid, payment.Paid, false, ordering.ErrAlreadyPaid},
		{"another try when over", line + " end:USER_CANCELED try:b", ordering.PaymentCanceled, payment.Redirected, false, ordering.ErrNotPayable},
		{"cancelled after a failure", begun + " said:FAILED end:USER_CANCELED", ordering.PaymentCanceled, payment.Failed, true, nil},
		{"expires while confirming, not early", begun + " pass:299s end:EXPIRED", ordering.Confirming, payment.Confirming, false, nil},
		{"expires while confirming, in the end", begun + " pass:300s end:EXPIRED", ordering.PaymentCanceled, payment.Confirming, true, nil},
		{"expired and never confirmed", begun + " said:UNKNOWN pass:300s end:EXPIRED confirm:again", ordering.PaymentCanceled, payment.Unknown, false, nil},
		{"two pages, the other while confirming", "redirect:1 try:b redirectB:2 confirmB confirm", ordering.Confirming, payment.Redirected, false, nil},
		{"two pages, no response for the other", "redirect:1 try:b redirectB:2 confirmB saidB:UNKNOWN confirm", ordering.Confirming, payment.Redirected, false, nil},
		{"two pages, the other has failed", "redirect:1 try:b redirectB:2 confirmB saidB:FAILED confirm", ordering.Confirming, payment.Confirming, true, nil},
		{"two pages, the other has paid", "redirect:1 try:b redirectB:2 confirmB saidB:PAID confirm", ordering.Paid, payment.Redirected, false, nil},
		{"two at once, one of them fails", begun + " said:FAILED try:b redirectB:2 confirmB said:FAILED", ordering.Confirming, payment.Failed, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPaymentStory(t, c.story)
			if got := p.attempt("a-a").State; p.order().PaymentStatus != c.order || got != c.attempt {
				t.Errorf("the order is %s and the attempt %s, want %s and %s", p.order().PaymentStatus, got, c.order, c.attempt)
			}
			if p.r.Changed != c.changed || !errors.Is(p.r.Err, c.err) {
				t.Errorf("changed %v, %v; want %v, %v", p.r.Changed, p.r.Err, c.changed, c.err)
			}
			p.balanced()
		})
	}
}

// A capture extends the order and its hold by five minutes, up to half an hour after the deadline shown to the guest.
func TestBatch_confirm_deadline(t *testing.T) {
	p := newPaymentStory(t, "redirect:1 confirm")
	if got := p.order().ExpiresAt; got != now.Add(5*time.Minute) || p.b.Deadlines["o-a"] != got {
		t.Errorf("ends at %v, its hold at %v", got, p.b.Deadlines["o-a"])
	}
	for range 20 {
		p.run("pass:2m confirm:again")
	}
	most := now.Add(time.Minute + 30*time.Minute)
	if got := p.order().ExpiresAt; got != most || p.b.Deadlines["o-a"] != most {
		t.Errorf("ends at %v, its hold at %v, want %v", got, p.b.Deadlines["o-a"], most)
	}
	if p.r.Changed {
		t.Error("an order that is over is confirmed")
	}
	long := newPaymentStory(t, "")
	long.b.Orders["o-a"].ExpiresAt = now.Add(time.Hour)
	long.run("redirect:1 confirm")
	if got := long.order().ExpiresAt; got != now.Add(time.Hour) || len(long.b.Deadlines) != 0 {
		t.Errorf("a deadline that was late enough was moved to %v, %v", got, long.b.Deadlines)
	}
}

// Late money revives the order or is refunded (I6).
func TestBatch_lateMoney(t *testing.T) {
	const (
		over, canceled = "redirect:1 pass:1m end:EXPIRED ", "redirect:1 end:USER_CANCELED "
		repriced       = "redirect:1 said:FAILED discount:10 "
	)
	for _, c := range []struct {
		name, story string
		order       ordering.PaymentStatus
		status      ordering.Status
		reasons     []payment.RefundReason
	}{
		{"units are free", over + "said:PAID", ordering.Paid, ordering.Placed, nil},
		{"cancelled", canceled + "said:PAID", ordering.RefundDue, ordering.Canceled, []payment.RefundReason{payment.LateCanceled}},
		{
			"cancelled by the staff", "redirect:1 end:STAFF_CANCELED said:PAID",
			ordering.RefundDue, ordering.Canceled, []payment.RefundReason{payment.LateCanceled},
		},
		{"sold out", over + "other said:PAID", ordering.RefundDue, ordering.Canceled, []payment.RefundReason{payment.LateSoldOut}},
		{"another day", over + "late:PAID", ordering.RefundDue, ordering.Canceled, []payment.RefundReason{payment.LateClosed}},
		{
			"due already", "redirect:1 try:b redirectB:2 pass:1m end:EXPIRED late:PAID saidB:PAID",
			ordering.RefundDue, ordering.Canceled, []payment.RefundReason{payment.LateClosed, payment.PriorRefundDue},
		},
		{
			"given back already", "redirect:1 try:b redirectB:2 pass:1m end:EXPIRED late:PAID byhand:SENDING sent:DONE saidB:PAID",
			ordering.RefundDue, ordering.Canceled, []payment.RefundReason{payment.LateClosed, payment.PriorRefundDue},
		},
		{
			"two attempts", "redirect:1 try:b redirectB:2 saidB:PAID said:PAID",
			ordering.Paid, ordering.Placed, []payment.RefundReason{payment.PaidTwice},
		},
		{"gateway and counter", "redirect:1 counter said:PAID", ordering.Paid, ordering.Placed, []payment.RefundReason{payment.PaidTwice}},
		{
			"after all went back", "redirect:1 try:b redirectB:2 said:PAID refund:0 sent:DONE saidB:PAID",
			ordering.Refunded, ordering.Placed, []payment.RefundReason{payment.RefundedByStaff, payment.PaidTwice},
		},
		{"a failure of an ended one", over + "said:FAILED", ordering.PaymentCanceled, ordering.Canceled, nil},
		{"under review when over", over + "said:REVIEW", ordering.PaymentCanceled, ordering.Canceled, nil},
		{"while confirming when over", "redirect:1 confirm pass:300s end:EXPIRED said:PAID", ordering.Paid, ordering.Placed, nil},
		{"repriced", repriced + "said:PAID", ordering.Unpaid, ordering.Placed, []payment.RefundReason{payment.Repriced}},
		{"repriced, said twice", repriced + "said:PAID asked:PAID", ordering.Unpaid, ordering.Placed, []payment.RefundReason{payment.Repriced}},
		{"repriced, then the counter", repriced + "said:PAID counter", ordering.Paid, ordering.Placed, []payment.RefundReason{payment.Repriced}},
		{"repriced, after the counter", repriced + "counter said:PAID", ordering.Paid, ordering.Placed, []payment.RefundReason{payment.PaidTwice}},
		{
			"repriced, then another page", repriced + "try:b redirectB:2 said:PAID saidB:PAID",
			ordering.Paid, ordering.Placed, []payment.RefundReason{payment.Repriced},
		},
		{
			"repriced, while another is captured", repriced + "try:b redirectB:2 confirmB said:PAID",
			ordering.Confirming, ordering.Placed, []payment.RefundReason{payment.Repriced},
		},
		{"repriced and back", repriced + "discount said:PAID", ordering.Paid, ordering.Placed, nil},
		{
			"repriced and expired", repriced + "pass:1m end:EXPIRED said:PAID",
			ordering.RefundDue, ordering.Canceled, []payment.RefundReason{payment.Repriced},
		},
		{
			"repriced and cancelled", repriced + "end:USER_CANCELED said:PAID",
			ordering.RefundDue, ordering.Canceled, []payment.RefundReason{payment.LateCanceled},
		},
		{
			"repriced, paid, then expired", repriced + "said:PAID pass:1m end:EXPIRED",
			ordering.PaymentCanceled, ordering.Canceled, []payment.RefundReason{payment.Repriced},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPaymentStory(t, c.story)
			if o := p.order(); o.PaymentStatus != c.order || o.Status != c.status {
				t.Errorf("the order is %s, %s; want %s, %s", o.Status, o.PaymentStatus, c.status, c.order)
			}
			owed := p.b.RefundsByOrder["o-a"]
			if len(owed) != len(c.reasons) {
				t.Fatalf("refunds %+v, want %v", owed, c.reasons)
			}
			for i, r := range owed {
				if r.Reason != c.reasons[i] || r.Amount != 3000 {
					t.Errorf("refund %d is %+v, want 3000 for %s", i, r, c.reasons[i])
				}
			}
			p.balanced()
			p.units()
		})
	}
}

// units checks that the counter matches the order: the units of a paid order are used, and those of an unpaid one held.
func (p *paymentStory) units() {
	p.t.Helper()
	var want stock.Counter
	switch o := p.order(); {
	case o.PaymentStatus == ordering.Unpaid, o.PaymentStatus == ordering.Confirming:
		want.Held = 3
	case o.Status == ordering.Placed:
		want.Used = 3
	}
	p.b.Balances.Deltas(func(_ stock.Key, c stock.Counter) {
		if c.Used != want.Used || want.Held > 0 && c.Held != want.Held {
			p.t.Errorf("%d units are held and %d used, want %d and %d", c.Held, c.Used, want.Held, want.Used)
		}
	})
}

// The money of an order is balanced (I6) after every command of any story with discounts, failures and late reports.
func TestBatch_money_is_balanced(t *testing.T) {
	// Some parts have two words, because few random stories would contain them.
	parts := []string{
		"redirect:1", "confirm", "try:b redirectB:2", "confirmB", "said:FAILED", "saidB:FAILED", "said:FAILED discount:10",
		"saidB:FAILED discount:20", "discount:10", "discount", "said:UNKNOWN", "said:REVIEW", "said:PAID", "saidB:PAID", "short:PAID",
		"counter", "pass:30s", "pass:60s end:EXPIRED", "end:USER_CANCELED", "refund:0", "refund:1000", "sent:DONE", "byhand:DONE",
		"pass:27h", "asked:REDIRECTED", "asked:APPROVED", "refused", "refusedB",
	}
	testenv.SequencesOf(t, 2000)
	rapid.Check(t, func(t *rapid.T) {
		p := newPaymentStory(t, "")
		for _, part := range rapid.SliceOfN(rapid.SampledFrom(parts), 1, 20).Draw(t, "story") {
			p.run(part)
			if p.balanced(); t.Failed() {
				t.Fatalf("the money is out of balance after %s", part)
			}
		}
	})
}

// Receipts name the method that paid an order, and not that of a newer attempt.
func TestBatch_method_of_a_paid_order(t *testing.T) {
	for story, want := range map[string]payment.Method{
		"redirect:1 said:PAID":                                payment.LINEPay,
		"redirect:1 counter":                                  payment.Counter,
		"redirect:1 try:b":                                    payment.VNPay, // unpaid: that of the newest attempt
		"redirect:1 try:b said:PAID":                          payment.LINEPay,
		"redirect:1 try:b said:PAID saidB:PAID":               payment.LINEPay,
		"redirect:1 try:b pass:1m end:EXPIRED then said:PAID": payment.LINEPay,
	} {
		p := newPaymentStory(t, story)
		if got := p.order().Method; got != want {
			t.Errorf("%s: method = %s, want %s", story, got, want)
		}
	}
}

// A payment ends the other attempts of its order that have no page, which nothing else would settle. Those with a page stay
// as the gateway reports them, and money that arrives for either kind is refunded.
func TestBatch_attempts_of_a_paid_order(t *testing.T) {
	const open, canceled = payment.Redirected, payment.Canceled
	for _, c := range []struct {
		name, story string
		a, b        payment.State // of the attempts a-a and b
		refunds     int
	}{
		{"without a page", "try:b counter", canceled, canceled, 0},
		{"one with a page", "redirect:1 try:b counter", open, canceled, 0},
		{"failed before", "redirect:1 said:FAILED try:b counter", payment.Failed, canceled, 0},
		{"paid at a gateway", "redirect:1 try:b said:PAID", payment.Paid, canceled, 0},
		{"paid at a gateway after the end", "redirect:1 try:b pass:1m end:EXPIRED said:PAID", payment.Paid, canceled, 0},
		{"page after the payment", "try:b counter redirectB:2", canceled, canceled, 0},
		{"success after the payment", "try:b counter saidB:PAID", canceled, payment.Paid, 1},
		{"both after the payment", "redirect:1 try:b counter said:PAID saidB:PAID said:PAID", payment.Paid, payment.Paid, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPaymentStory(t, c.story)
			a, b := p.attempt("a-a"), p.attempt("b")
			if a.State != c.a || b.State != c.b || p.order().PaymentStatus != ordering.Paid {
				t.Errorf("attempts %s and %s of an order that is %s, want %s and %s of a PAID one",
					a.State, b.State, p.order().PaymentStatus, c.a, c.b)
			}
			if b.SettledAt.IsZero() {
				t.Error("the time at which the second attempt ended is missing")
			}
			refunds := p.b.RefundsByOrder["o-a"]
			for _, r := range refunds {
				testenv.Equal(t, payment.PaidTwice, r.Reason)
			}
			testenv.Equal(t, c.refunds, len(refunds))
			p.balanced()
		})
	}
}

// The end of an order ends its attempts that have no page. Money that arrives for one of them is applied or refunded as if
// it had a page.
func TestBatch_attempts_of_an_ended_order(t *testing.T) {
	const open, canceled, expire = payment.Redirected, payment.Canceled, " pass:1m end:EXPIRED "
	for _, c := range []struct {
		name, story string
		a, b        payment.State // of the attempts a-a and b
		order       ordering.PaymentStatus
		reason      payment.RefundReason // of the only refund; empty for none
	}{
		{"canceled by the guest", "try:b end:USER_CANCELED", canceled, canceled, ordering.PaymentCanceled, ""},
		{"canceled by the staff", "try:b end:STAFF_CANCELED", canceled, canceled, ordering.PaymentCanceled, ""},
		{"expired", "try:b" + expire, canceled, canceled, ordering.PaymentCanceled, ""},
		{"one with a page", "redirect:1 try:b" + expire, open, canceled, ordering.PaymentCanceled, ""},
		{"one that failed", "redirect:1 said:FAILED try:b" + expire, payment.Failed, canceled, ordering.PaymentCanceled, ""},
		{
			"one that may capture", "try:b redirect:1 confirm pass:300s end:EXPIRED", payment.Confirming, canceled,
			ordering.PaymentCanceled, "",
		},
		{"page after the end", "try:b end:USER_CANCELED redirectB:2", canceled, canceled, ordering.PaymentCanceled, ""},
		{"repeated end", "try:b end:USER_CANCELED then end:USER_CANCELED", canceled, canceled, ordering.PaymentCanceled, ""},
		{"success after the cancellation", "try:b end:USER_CANCELED said:PAID", payment.Paid, canceled, ordering.RefundDue, payment.LateCanceled},
		{"success on a later day", "try:b" + expire + "late:PAID", payment.Paid, canceled, ordering.RefundDue, payment.LateClosed},
		{"success after the expiry", "try:b" + expire + "said:PAID", payment.Paid, canceled, ordering.Paid, ""},
		{"two successes", "try:b" + expire + "said:PAID saidB:PAID", payment.Paid, payment.Paid, ordering.Paid, payment.PaidTwice},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPaymentStory(t, c.story)
			a, b := p.attempt("a-a"), p.attempt("b")
			if a.State != c.a || b.State != c.b || p.order().PaymentStatus != c.order {
				t.Errorf("attempts %s and %s of an order that is %s, want %s and %s, %s",
					a.State, b.State, p.order().PaymentStatus, c.a, c.b, c.order)
			}
			if b.SettledAt.IsZero() || !b.CheckAt.IsZero() || p.b.ChangedAttempts["b"].State != c.b {
				t.Errorf("attempt %+v, want the time at which it ended, no check, and a row to be written", b)
			}
			var reasons []payment.RefundReason
			for _, r := range p.b.RefundsByOrder["o-a"] {
				reasons = append(reasons, r.Reason)
			}
			if c.reason != "" && (len(reasons) != 1 || reasons[0] != c.reason) || c.reason == "" && len(reasons) != 0 {
				t.Errorf("refunds for %v, want %q", reasons, c.reason)
			}
			p.balanced()
		})
	}
}

// An attempt for which its gateway has no result after 26 hours is given up, if its order cannot be paid any more. Late money is
// still refunded, or applied if the day is not over.
func TestBatch_attempts_without_a_result(t *testing.T) {
	const (
		canceled = "redirect:1 end:USER_CANCELED "
		expired  = "redirect:1 pass:1m end:EXPIRED "
		day      = "pass:27h "
	)
	for _, c := range []struct {
		name, story string
		attempt     payment.State
		order       ordering.PaymentStatus
		events      string // the verdicts
		reason      payment.RefundReason
	}{
		{"canceled", canceled + day + "asked:REDIRECTED", payment.Canceled, ordering.PaymentCanceled, "CANCELED", ""},
		{"expired", expired + day + "asked:REDIRECTED", payment.Canceled, ordering.PaymentCanceled, "CANCELED", ""},
		{"approved and never captured", expired + day + "asked:APPROVED", payment.Canceled, ordering.PaymentCanceled, "CANCELED", ""},
		{"paid otherwise", "redirect:1 counter " + day + "asked:REDIRECTED", payment.Canceled, ordering.Paid, "PAID CANCELED", ""},
		{
			"paid otherwise and refunded", "redirect:1 counter refund:0 " + day + "asked:REDIRECTED", payment.Canceled, ordering.Refunded,
			"PAID CANCELED", "STAFF",
		},
		{"checked twice", canceled + day + "asked:REDIRECTED then asked:REDIRECTED", payment.Canceled, ordering.PaymentCanceled, "CANCELED", ""},
		{"too early", canceled + "pass:26h asked:REDIRECTED", payment.Redirected, ordering.PaymentCanceled, "", ""},
		{"still payable", "redirect:1 " + day + "asked:REDIRECTED", payment.Redirected, ordering.Unpaid, "", ""},
		{"reported, not asked", canceled + day + "said:REDIRECTED", payment.Redirected, ordering.PaymentCanceled, "REPEATED", ""},
		{"after a capture that moved nothing", "redirect:1 confirm pass:300s end:EXPIRED " + day + "asked:REDIRECTED", payment.Redirected,
			ordering.PaymentCanceled, "REDIRECTED", ""},
		{"and asked again", "redirect:1 confirm pass:300s end:EXPIRED " + day + "asked:REDIRECTED then asked:REDIRECTED", payment.Canceled,
			ordering.PaymentCanceled, "REDIRECTED CANCELED", ""},
		{"outcome unknown", "redirect:1 confirm said:UNKNOWN pass:300s end:EXPIRED " + day + "asked:APPROVED", payment.Unknown,
			ordering.PaymentCanceled, "UNKNOWN", ""},
		{"under review", "redirect:1 said:REVIEW end:USER_CANCELED " + day + "asked:REDIRECTED", payment.Review, ordering.PaymentCanceled,
			"REVIEW", ""},
		{"another amount", canceled + day + "short:REDIRECTED", payment.Redirected, ordering.PaymentCanceled, "AMOUNT_MISMATCH", ""},
		{"then money for a canceled order", canceled + day + "asked:REDIRECTED late:PAID", payment.Paid, ordering.RefundDue, "CANCELED PAID",
			payment.LateCanceled},
		{"then money on a later day", expired + day + "asked:REDIRECTED late:PAID", payment.Paid, ordering.RefundDue, "CANCELED PAID",
			payment.LateClosed},
		{"then money on the same day", expired + day + "asked:REDIRECTED said:PAID", payment.Paid, ordering.Paid, "CANCELED PAID", ""},
		{"then money for a paid order", "redirect:1 counter " + day + "asked:REDIRECTED late:PAID", payment.Paid, ordering.Paid,
			"PAID CANCELED PAID", payment.PaidTwice},
		{"then a failure", canceled + day + "asked:REDIRECTED said:FAILED", payment.Failed, ordering.PaymentCanceled, "CANCELED FAILED", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPaymentStory(t, "")
			p.b.Attempts["o-a"][0].CreatedAt = now
			p.run(c.story)
			if a := p.attempt("a-a"); a.State != c.attempt || p.order().PaymentStatus != c.order {
				t.Errorf("attempt %s of an order that is %s, want %s, %s", a.State, p.order().PaymentStatus, c.attempt, c.order)
			}
			if p.b.ChangedAttempts["a-a"].State != c.attempt {
				t.Errorf("row to be written = %+v, want state %s", p.b.ChangedAttempts["a-a"], c.attempt)
			}
			var verdicts []string
			for _, e := range p.b.PaymentEvents {
				verdicts = append(verdicts, e.Verdict)
			}
			testenv.Equal(t, c.events, strings.Join(verdicts, " "))
			var reason payment.RefundReason
			for _, r := range p.b.RefundsByOrder["o-a"] {
				reason = r.Reason
			}
			if n := len(p.b.RefundsByOrder["o-a"]); reason != c.reason || n > 1 {
				t.Errorf("%d refunds, the last one for %q; want %q", n, reason, c.reason)
			}
			p.balanced()
		})
	}
}

// A refusal of a page ends an attempt that has none, and no other. It is stored as it was received.
func TestBatch_refused_page(t *testing.T) {
	for _, c := range []struct {
		story   string
		attempt payment.State
		changed bool // by the last command
		url     string
		verdict string // of the last event
	}{
		{"refused", payment.Failed, true, "", "FAILED"},
		{"refused then refused", payment.Failed, false, "", "REPEATED"},
		{"refused redirect:1", payment.Failed, false, "", "FAILED"},
		{"redirect:1 refused", payment.Redirected, false, "https://pay.example/1", "REPEATED"},
		{"redirect:1 confirm refused", payment.Confirming, false, "https://pay.example/1", "REPEATED"},
		{"redirect:1 said:PAID refused", payment.Paid, false, "https://pay.example/1", "REPEATED"},
		{"end:USER_CANCELED refused", payment.Canceled, false, "", "REPEATED"},
		{"refused said:PAID", payment.Paid, true, "", "PAID"},
	} {
		p := newPaymentStory(t, c.story)
		a, events := p.attempt("a-a"), p.b.PaymentEvents
		if a.State != c.attempt || a.URL != c.url || p.r.Changed != c.changed || p.r.Err != nil {
			t.Errorf("%s: attempt %+v, changed %v, %v; want %s, %v", c.story, a, p.r.Changed, p.r.Err, c.attempt, c.changed)
		}
		if checked := !a.CheckAt.IsZero(); checked != (a.State == payment.Redirected || a.State == payment.Confirming) {
			t.Errorf("%s: the next check of an attempt in %s is at %v, want none without a page", c.story, a.State, a.CheckAt)
		}
		if got := events[len(events)-1].Verdict; got != c.verdict || p.b.ChangedAttempts["a-a"].State != c.attempt {
			t.Errorf("%s: verdict %s and row %+v, want %s", c.story, got, p.b.ChangedAttempts["a-a"], c.verdict)
		}
		p.balanced()
	}
}

// A discount cancels the attempts that wait for the old total. It leaves no attempt that counts as an open payment, and the
// counter takes exactly the new total.
func TestBatch_discount_and_attempts(t *testing.T) {
	const failed = "redirect:1 said:FAILED "
	for _, c := range []struct {
		name, story string
		total       int64
		order       ordering.PaymentStatus
		attempts    int
		err         error
	}{
		{"open page", "redirect:1 discount:10", 3000, ordering.Unpaid, 1, ordering.ErrPaymentOpen},
		{"page that is asked for", "discount:10", 3000, ordering.Unpaid, 1, ordering.ErrPaymentOpen},
		{"failed page", failed + "discount:10", 2700, ordering.Unpaid, 1, nil},
		{"page that is refused", "refused discount:10", 2700, ordering.Unpaid, 1, nil},
		{"page that is refused twice", "refused then refused discount:10", 2700, ordering.Unpaid, 1, nil},
		{"page that another request got", "redirect:1 refused discount:10", 3000, ordering.Unpaid, 1, ordering.ErrPaymentOpen},
		{"page that comes after the refusal", "refused redirect:1 discount:10", 2700, ordering.Unpaid, 1, nil},
		{"page of a method that is not offered", "unoffered:10", 2700, ordering.Unpaid, 1, nil},
		{"open page of a method that is not offered", "redirect:1 unoffered:10", 3000, ordering.Unpaid, 1, ordering.ErrPaymentOpen},
		{"page that comes after the discount", "unoffered:10 redirect:1 discount:20", 2400, ordering.Unpaid, 1, nil},
		{"second page that is refused", "redirect:1 try:b refusedB discount:10", 3000, ordering.Unpaid, 2, ordering.ErrPaymentOpen},
		{"refused, then another page", "refused discount:10 try:b redirectB:2 saidB:PAID", 2700, ordering.Paid, 2, nil},
		{"refused, and paid for the old total", "refused discount:10 said:PAID", 2700, ordering.Unpaid, 1, nil},
		{"twice", failed + "discount:10 discount:20", 2400, ordering.Unpaid, 1, nil},
		{"and removed", failed + "discount:10 discount", 3000, ordering.Unpaid, 1, nil},
		{"then another page", failed + "discount:10 try:b redirectB:2 discount:20", 2700, ordering.Unpaid, 2, ordering.ErrPaymentOpen},
		{"then the counter", failed + "discount:10 counter", 2700, ordering.Paid, 2, nil},
		{"then another page, then the counter", failed + "discount:10 try:b redirectB:2 counter", 2700, ordering.Paid, 3, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPaymentStory(t, c.story)
			o, attempts := p.order(), p.b.Attempts["o-a"]
			if o.Total != c.total || o.PaymentStatus != c.order || len(attempts) != c.attempts || !errors.Is(p.r.Err, c.err) {
				t.Errorf("total %d, %s, %d attempts, %v; want %d, %s, %d, %v",
					o.Total, o.PaymentStatus, len(attempts), p.r.Err, c.total, c.order, c.attempts, c.err)
			}
			if len(p.b.Mismatches) != 0 {
				t.Errorf("mismatches = %+v, want none", p.b.Mismatches)
			}
			p.balanced()
		})
	}
}

// The staff refund orders in every state of the order and of the refund.
func TestBatch_refunds(t *testing.T) {
	const paid = "redirect:1 said:PAID "
	for _, c := range []struct {
		name, story string
		order       ordering.PaymentStatus
		refunded    int64
		state       payment.RefundState // state of the newest refund; empty: none
		changed     bool
		err         error
	}{
		{"of an unpaid one", "refund:1", ordering.Unpaid, 0, "", false, ordering.ErrNotRefundable},
		{"of one being confirmed", "redirect:1 confirm refund:1", ordering.Confirming, 0, "", false, ordering.ErrNotRefundable},
		{"of a cancelled one", "end:USER_CANCELED refund:1", ordering.PaymentCanceled, 0, "", false, ordering.ErrNotRefundable},
		{"all", paid + "refund:0", ordering.RefundDue, 3000, payment.RefundSending, true, nil},
		{"all, as a number", paid + "refund:3000", ordering.RefundDue, 3000, payment.RefundSending, true, nil},
		{"all, twice", paid + "refund:0 then refund:0", ordering.RefundDue, 3000, payment.RefundSending, false, ordering.ErrNotRefundable},
		{"a part", paid + "refund:1000", ordering.Paid, 1000, payment.RefundSending, true, nil},
		{"two parts", paid + "refund:1000 refund:2000", ordering.RefundDue, 3000, payment.RefundSending, true, nil},
		{"a part and the rest", paid + "refund:1000 refund:0", ordering.RefundDue, 3000, payment.RefundSending, true, nil},
		{"too much", paid + "refund:3001", ordering.Paid, 0, "", false, ordering.ErrNotRefundable},
		{"too much in parts", paid + "refund:1000 refund:1999 refund:2", ordering.Paid, 2999, payment.RefundSending, false, ordering.ErrNotRefundable},
		{"less than nothing", paid + "refund:-1", ordering.Paid, 0, "", false, ordering.ErrNotRefundable},
		{"a part, asked twice", paid + "key:1000 then key:1000", ordering.Paid, 1000, payment.RefundSending, false, nil},
		{"a part, asked when it has arrived", paid + "key:1000 sent:DONE then key:1000", ordering.Paid, 1000, payment.RefundDone, false, nil},
		{"all, asked twice", paid + "key:0 then key:0", ordering.RefundDue, 3000, payment.RefundSending, false, nil},
		{"another part under the key", paid + "key:1000 key:2000", ordering.Paid, 1000, payment.RefundSending, false, ordering.ErrRefundKey},
		{"too much, then less under the key", paid + "key:3001 key:1000", ordering.Paid, 1000, payment.RefundSending, true, nil},
		{"a part from the till, asked twice", "counter key:1000 then key:1000", ordering.Paid, 1000, payment.RefundDone, false, nil},
		{"money from the till", "counter refund:1000", ordering.Paid, 1000, payment.RefundDone, true, nil},
		{"all from the till", "counter refund:0", ordering.Refunded, 3000, payment.RefundDone, true, nil},
		{"arrived", paid + "refund:0 sent:DONE", ordering.Refunded, 3000, payment.RefundDone, true, nil},
		{"arrived twice", paid + "refund:0 sent:DONE then sent:DONE", ordering.Refunded, 3000, payment.RefundDone, false, nil},
		{"a part arrived", paid + "refund:1000 sent:DONE", ordering.Paid, 1000, payment.RefundDone, true, nil},
		{"one of two arrived", paid + "refund:1000 refund:2000 sent:DONE", ordering.RefundDue, 3000, payment.RefundDone, true, nil},
		{"refused", paid + "refund:0 sent:REFUSED", ordering.RefundDue, 3000, payment.RefundRefused, true, nil},
		{"refused twice", paid + "refund:0 sent:REFUSED then sent:REFUSED", ordering.RefundDue, 3000, payment.RefundRefused, false, nil},
		{"refused, by hand", paid + "refund:0 sent:REFUSED byhand:DONE", ordering.Refunded, 3000, payment.RefundDone, true, nil},
		{"refused, sent again", paid + "refund:0 sent:REFUSED byhand:SENDING", ordering.RefundDue, 3000, payment.RefundSending, true, nil},
		{"sent while it is sent", paid + "refund:0 byhand:SENDING", ordering.RefundDue, 3000, payment.RefundSending, false, nil},
		{"sent when done", paid + "refund:0 sent:DONE byhand:SENDING", ordering.Refunded, 3000, payment.RefundDone, false, nil},
		{"by hand while it is sent", paid + "refund:0 byhand:DONE", ordering.RefundDue, 3000, payment.RefundSending, false, ordering.ErrRefundSending},
		{"by hand while it is sent again", paid + "refund:0 sent:UNKNOWN byhand:SENDING byhand:DONE", ordering.RefundDue, 3000, payment.RefundSending, false, ordering.ErrRefundSending},
		{"by hand when it has arrived", paid + "refund:0 sent:DONE byhand:DONE", ordering.Refunded, 3000, payment.RefundDone, false, nil},
		{"refused when done by hand", paid + "refund:0 sent:UNKNOWN byhand:DONE sent:REFUSED", ordering.Refunded, 3000, payment.RefundDone, false, nil},
		{"the till's is never sent", "counter refund:0 byhand:SENDING", ordering.Refunded, 3000, payment.RefundDone, false, payment.ErrMethod},
		{"in the portal", paid + "portal:7", ordering.Paid, 1000, payment.RefundDone, true, nil},
		{"in the portal, noted twice", paid + "portal:7 then portal:7", ordering.Paid, 1000, payment.RefundDone, false, nil},
		{"in the portal, noted otherwise", paid + "portal:7 portal:7/999", ordering.Paid, 1000, payment.RefundDone, false, ordering.ErrRefundNoted},
		{"in the portal, all in parts", paid + "portal:7 portal:8/2000", ordering.Refunded, 3000, payment.RefundDone, true, nil},
		{"in the portal, all, noted twice", paid + "portal:7/0 then portal:7/0", ordering.Refunded, 3000, payment.RefundDone, false, nil},
		{"in the portal, too much", paid + "portal:7/3001", ordering.Paid, 0, "", false, ordering.ErrNotRefundable},
		{"in the portal, while a part is sent", paid + "refund:2000 portal:7", ordering.RefundDue, 3000, payment.RefundDone, true, nil},
		{"in the portal, what we have sent", paid + "refund:1000 sent:DONE portal:9", ordering.Paid, 1000, payment.RefundDone, false, nil},
		{"the till has no portal", "counter portal:7", ordering.Paid, 0, "", false, payment.ErrMethod},
		{"nothing to finish", paid + "byhand:DONE", ordering.Paid, 0, "", false, payment.ErrRefund},
		{"late money, sent", "redirect:1 end:USER_CANCELED late:PAID byhand:SENDING", ordering.RefundDue, 0, payment.RefundSending, true, nil},
		{"late money, given back", "redirect:1 end:USER_CANCELED late:PAID byhand:SENDING sent:DONE", ordering.Refunded, 0, payment.RefundDone, true, nil},
		{"late money, by hand", "redirect:1 end:USER_CANCELED late:PAID byhand:DONE", ordering.Refunded, 0, payment.RefundDone, true, nil},
		{"late money is not an order's", "redirect:1 end:USER_CANCELED late:PAID refund:1", ordering.RefundDue, 0, payment.RefundDue, false, ordering.ErrNotRefundable},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPaymentStory(t, c.story)
			if o := p.order(); o.PaymentStatus != c.order || o.Refunded != c.refunded {
				t.Errorf("the order is %s with %d refunded, want %s with %d", o.PaymentStatus, o.Refunded, c.order, c.refunded)
			}
			var last payment.Refund
			if all := p.b.RefundsByOrder["o-a"]; len(all) > 0 {
				last = all[len(all)-1]
			}
			if last.State != c.state || p.r.Changed != c.changed || !errors.Is(p.r.Err, c.err) {
				t.Errorf("the refund is %q, changed %v, %v; want %q, %v, %v", last.State, p.r.Changed, p.r.Err, c.state, c.changed, c.err)
			}
			p.balanced()
		})
	}
}

// A refused refund names the money that can still be refunded: nothing of an order that is not paid.
func TestBatch_refund_names_what_is_left(t *testing.T) {
	const paid = "redirect:1 said:PAID "
	for story, want := range map[string]int64{
		"refund:1":                   0,
		paid + "refund:3001":         3000,
		paid + "refund:-1":           3000,
		"end:USER_CANCELED refund:1": 0,
		"redirect:1 end:USER_CANCELED late:PAID refund:1": 0,
		paid + "refund:1000 refund:2001":                  2000,
		paid + "refund:0 then refund:0":                   0,
	} {
		var refused *fault.Error
		if err := newPaymentStory(t, story).r.Err; !errors.As(err, &refused) || refused.Extra["refundable"] != want {
			t.Errorf("%s: %v with %v refundable, want %d", story, err, refused.Extra["refundable"], want)
		}
	}
}

// A refund goes to the attempt that paid the order, even if another attempt's money is due for refund too.
func TestBatch_refund_ofTheRightMoney(t *testing.T) {
	p := newPaymentStory(t, "redirect:1 try:b redirectB:2 saidB:PAID said:PAID refund:0")
	all := p.b.RefundsByOrder["o-a"]
	if len(all) != 2 || all[0].AttemptID != "a-a" || all[0].Reason != payment.PaidTwice ||
		all[1].AttemptID != "b" || all[1].Method != payment.VNPay {
		t.Fatalf("refunds = %+v, want a-a, paid twice, then b of VNPay", all)
	}
	p.run("sent:DONE")
	if got := p.order().PaymentStatus; got != ordering.RefundDue {
		t.Errorf("the order is %s while one refund is due", got)
	}
}

// The audit log records every payment action of the staff, and each finished refund is published once.
func TestBatch_moneyIsAudited(t *testing.T) {
	p := newPaymentStory(t, "redirect:1 said:PAID refund:1000 sent:REFUSED byhand:SENDING sent:DONE then sent:DONE refund:0 sent:UNKNOWN byhand:DONE")
	var actions []string
	for _, e := range p.b.Audit {
		actions = append(actions, e.Action)
	}
	want := []string{audit.ActionRefunded, audit.ActionRefundDone, audit.ActionRefunded, audit.ActionRefundDone}
	if strings.Join(actions, " ") != strings.Join(want, " ") {
		t.Errorf("audited %v, want %v", actions, want)
	}
	refunded := 0
	for _, e := range p.b.Events {
		if e.Type == "order.refunded" {
			refunded++
		}
	}
	testenv.Equal(t, 2, refunded)
}
