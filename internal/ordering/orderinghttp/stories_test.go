package orderinghttp_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/money"
	"comanda/internal/ordering"
	"comanda/internal/ordering/orderingtest"
	"comanda/internal/payment"
	"comanda/internal/sim/linepaysim"
	"comanda/internal/sim/vnpaysim"
	"comanda/internal/sqldb"
	"comanda/internal/sqldb/sqldbtest"
	"comanda/internal/testenv"
	"comanda/internal/visit"
)

// The flags select a longer search, such as -stories=5000, and its random sequence.
var (
	stories = flag.Int("stories", testenv.Size(160, 2000), "how many random stories of payments are run on each engine")
	seed    = flag.Uint64("stories.seed", 1, "of what happens in them")
)

const (
	cohortSize  = 40 // stories of one cohort, which run concurrently
	rounds      = 12 // number of rounds in a story
	concurrency = 16 // number of stories that act at the same time
)

// TestMoneyBalances checks I6 under random actions of guests, staff and gateways and random faults of networks and the
// database: in the end the database agrees with the gateways, and every capture belongs to one order or one refund.
func TestMoneyBalances(t *testing.T) {
	sqldbtest.Each(t, func(t *testing.T, db *sqldb.DB) {
		v := newSoak(t, db, (*stories+cohortSize-1)/cohortSize)
		for cohort := range (*stories + cohortSize - 1) / cohortSize {
			v.runCohort(cohort)
		}
		v.settleAll()
		v.audit()
	})
}

// soak is a testServer with two branches: one charges dong through VNPay, the other dollars through LINE Pay.
type soak struct {
	*testServer

	random *rand.Rand
	broken bool // the database fails
	placed []*orderStory
}

// kitchens implements ordering.Catalog with one catalog per branch.
type kitchens map[int64]orderingtest.Catalog

func (k kitchens) Branch(ctx context.Context, id int64) (catalog.Branch, error) {
	return k[id].Branch(ctx, id)
}

func (k kitchens) Version(ctx context.Context, branch, version int64) (*catalog.Snapshot, error) {
	return k[branch].Version(ctx, branch, version)
}

// guestsByBranch resolves guests by a branch's id as the token.
type guestsByBranch map[string]visit.Guest

func (p guestsByBranch) Resolve(_ context.Context, token string) (visit.Guest, error) {
	return p[token], nil
}

func (p guestsByBranch) ResolveForRead(ctx context.Context, token string) (visit.Guest, error) {
	return p.Resolve(ctx, token)
}

func newSoak(t *testing.T, db *sqldb.DB, cohorts int) *soak {
	t.Helper()
	// Some orders find the item sold out, some only when a late payment restores them.
	quotas := slices.Repeat([]int64{cohortSize / 2 * 7 / 2}, cohorts)
	k, p := kitchens{}, guestsByBranch{}
	for branch, c := range map[int64]money.Currency{1: money.VND, 2: money.TWD} {
		r := orderingtest.Open(t, db, branch, quotas...)
		r.Currency = c
		k[branch], p[fmt.Sprint(branch)] = r.Catalog(t), visit.Guest{BranchID: branch, VisitID: r.Visit, TokenHash: "phone"}
	}
	v := &soak{testServer: openTestServer(t, db, k, p, &memoryNetwork{}), random: rand.New(rand.NewPCG(*seed, 0))}
	v.t = t
	// The window is a third of a story's duration, without grace, so that many payments come late.
	v.settings.PaymentWindow, v.settings.ExpiryGrace = 5*time.Minute, time.Second
	return v
}

// orderStory is one order and the payment pages that its guest has opened.
type orderStory struct {
	v      *soak
	random *rand.Rand
	branch int64
	item   int64
	method payment.Method
	order  placed
	pages  []string
	script []func(s *orderStory) // the first actions after the order; then they are random
}

// scripts are the first actions of stories whose outcomes are rare at random: a guest pays a cancelled order, pays twice, or
// pays at the counter. Even stories are of VNPay, which takes the money without the server.
var scripts = map[int][]func(s *orderStory){
	0: {(*orderStory).cancel, (*orderStory).pay},
	1: {(*orderStory).counter},
	2: {(*orderStory).again, (*orderStory).pay, (*orderStory).payLast},
	4: {(*orderStory).again, (*orderStory).payLast, (*orderStory).pay},
}

// runCohort runs one cohort of stories in rounds. Time passes between the rounds.
func (v *soak) runCohort(cohort int) {
	v.t.Helper()
	stories := make([]*orderStory, cohortSize)
	for i := range stories {
		branch := int64(i%2 + 1)
		stories[i] = &orderStory{
			v: v, random: rand.New(rand.NewPCG(*seed, uint64(cohort*cohortSize+i+1))), branch: branch,
			item: branch*100 + int64(cohort) + 1, method: []payment.Method{payment.VNPay, payment.LINEPay}[i%2],
			script: scripts[i%(cohortSize/2)],
		}
	}
	v.placed = append(v.placed, stories...)
	for range rounds {
		v.injectFaults()
		v.actAll(stories)
		v.repairDatabase()
		v.Advance(time.Duration(v.random.IntN(150)) * time.Second)
		v.runJobs()
	}
}

// actAll runs one action of every story, up to concurrency at the same time.
func (v *soak) actAll(cohort []*orderStory) {
	work := make(chan *orderStory)
	var hands sync.WaitGroup
	for range concurrency {
		hands.Go(func() {
			for s := range work {
				s.act()
			}
		})
	}
	for _, i := range v.random.Perm(len(cohort)) {
		work <- cohort[i]
	}
	close(work)
	hands.Wait()
}

// runJobs runs the background jobs of two processes concurrently.
func (v *soak) runJobs() {
	var all sync.WaitGroup
	for range 2 {
		for range 2 { // one round processes at most 64
			all.Go(func() { v.check(v.orders.CheckPayments(v.t.Context())) })
			all.Go(func() { v.check(v.orders.SendRefunds(v.t.Context())) })
		}
		all.Go(func() { _, err := v.orders.ExpireOverdue(v.t.Context()); v.check(err) })
	}
	all.Wait()
}

func (v *soak) check(err error) {
	if err != nil && !v.broken {
		v.t.Error(err)
	}
}

// injectFaults selects the faults of the next round.
func (v *soak) injectFaults() {
	v.t.Helper()
	f := vnpaysim.Faults{
		ReturnFirst: v.random.IntN(4) == 0, AtOnce: v.random.IntN(2) == 0, Repeat: v.random.IntN(3),
		Lose: max(0, v.random.IntN(5)-2), LoseAnswers: max(0, v.random.IntN(8)-4),
		Corrupt: pick(v.random, "", "", "", vnpaysim.Signature, vnpaysim.Tampered, vnpaysim.Duplicated, vnpaysim.OtherAmount,
			vnpaysim.OtherSite, vnpaysim.Extra, vnpaysim.UpperCase),
		RefundCode: pick(v.random, "", "", "", "99", "97"),
	}
	v.vnpayFaults(f)
	var line []linepaysim.Fault
	for range v.random.IntN(12) {
		line = append(line, linePayFaults(v.random))
	}
	v.lineFaults(line...)
	if v.broken = v.random.IntN(8) == 0; v.broken {
		v.change("ALTER TABLE payment_event RENAME TO payment_event_gone")
	}
}

func pick[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

func linePayFaults(r *rand.Rand) linepaysim.Fault {
	f := linepaysim.Fault{Times: 1 + r.IntN(3), Moves: r.IntN(2) == 0}
	f.Call = pick(r, linepaysim.Request, linepaysim.Check, linepaysim.Confirm, linepaysim.Confirm, linepaysim.Refund, linepaysim.Details)
	f.Response = pick(r, linepaysim.Lost, linepaysim.Garbled, linepaysim.Broken, "")
	if f.Response != "" {
		return f
	}
	f.Moves = false
	switch f.Call {
	case linepaysim.Confirm:
		f.Code, f.Moves = pick(r, "1198", "1282", "1104", "9000"), false
		if r.IntN(6) == 0 {
			f.Code, f.Response = "", linepaysim.Short
		}
	case linepaysim.Check:
		f.Code = "0000"
	case linepaysim.Refund:
		f.Code = pick(r, "1163", "1198", "9000")
	case linepaysim.Request:
		// No draw of its own: the random sequence is chosen so that every outcome occurs.
		if f.Code = "9000"; f.Times == 1 {
			f.Code = "1104"
		}
	default:
		f.Code = "9000"
	}
	return f
}

func (v *soak) repairDatabase() {
	v.t.Helper()
	if v.broken {
		v.change("ALTER TABLE payment_event_gone RENAME TO payment_event")
	}
	v.broken = false
}

// act performs a story's next action.
func (s *orderStory) act() {
	if s.order.ID == "" {
		s.place()
		return
	}
	if len(s.script) > 0 {
		next := s.script[0]
		s.script = s.script[1:]
		next(s)
		return
	}
	switch n := s.random.IntN(20); {
	case n < 9:
		s.press()
	case n < 11:
		s.again()
	case n == 11:
		s.cancel()
	case n == 12 && s.random.IntN(2) == 0:
		s.counter()
	case n < 15:
		s.refund()
	case n == 15:
		s.sendDue()
	case n == 17:
		s.portalFirst()
	case n == 16:
		s.replayAndForge()
	}
}

func (s *orderStory) place() {
	body := map[string]any{
		"items":         []map[string]any{{"itemId": fmt.Sprint(s.item), "qty": 5 + s.random.IntN(5)}},
		"paymentMethod": string(s.method), "clientTxnId": fmt.Sprint(s.item, "-", s.random.Uint64()), "menuVersionId": fmt.Sprint(s.branch),
	}
	if s.v.try(http.MethodPost, "/cis/order/create", fmt.Sprint(s.branch), body, &s.order) == http.StatusCreated {
		s.addPage(s.order)
	}
}

func (s *orderStory) addPage(p placed) {
	if p.Payment.RedirectURL != "" {
		s.pages = append(s.pages, p.Payment.RedirectURL)
	}
}

func (s *orderStory) cancel() {
	s.v.try(http.MethodPost, "/cis/order/"+s.order.ID+"/cancel", fmt.Sprint(s.branch), nil, nil)
}

// pay pays on the first page of the order, and payLast on its last one.
func (s *orderStory) pay()     { s.payOn(0) }
func (s *orderStory) payLast() { s.payOn(len(s.pages) - 1) }

func (s *orderStory) payOn(page int) {
	if page >= 0 && page < len(s.pages) {
		s.v.browse(http.MethodPost, s.pages[page], "action=pay")
	}
}

// press acts on one of the payment pages that the guest has opened.
func (s *orderStory) press() {
	if len(s.pages) == 0 {
		s.again()
		return
	}
	action := pick(s.random, "pay", "pay", "pay", "leave", "leave", "twice", "again", "late", "decline", "refuse", "close", "cancel")
	if s.v.vnpay.Faults().ReturnFirst && (action == "twice" || action == "again") {
		action = "pay" // these actions wait for a notification, which ReturnFirst delays until the clock moves
	}
	s.v.browse(http.MethodPost, pick(s.random, s.pages...), "action="+action)
}

func (s *orderStory) again() {
	var p placed
	if s.v.try(http.MethodPost, "/cis/order/"+s.order.ID+"/pay", fmt.Sprint(s.branch), map[string]string{"method": string(s.method)}, &p) ==
		http.StatusOK {
		s.addPage(p)
	}
}

func (s *orderStory) counter() {
	s.v.try(http.MethodPost, "/api/orders/"+s.order.ID+"/payments", "", map[string]any{"method": "COUNTER", "amount": s.order.TotalPrice}, nil)
}

func (s *orderStory) refund() {
	amount := pick(s.random, 0, 1, 1000, 2500, s.order.TotalPrice-1, s.order.TotalPrice+1)
	body := map[string]any{"reason": "cold", "clientTxnId": fmt.Sprint(s.random.Uint64())}
	if amount != 0 { // 0 refunds the rest
		body["amount"] = amount
	}
	var first, again struct{ ID string }
	path := "/api/orders/" + s.order.ID + "/refunds"
	if s.v.try(http.MethodPost, path, "", body, &first) == http.StatusCreated && s.random.IntN(2) == 0 &&
		s.v.try(http.MethodPost, path, "", body, &again) == http.StatusCreated && again != first {
		s.v.t.Errorf("asked again, the refund %s is %s", first.ID, again.ID)
	}
}

// sendDue sends the refunds that are due or were rejected, as the staff do.
func (s *orderStory) sendDue() {
	d, err := s.v.orders.Order(s.v.t.Context(), ordering.Staff(authz.System()), s.order.ID)
	s.v.check(err)
	for _, r := range d.Refunds {
		switch {
		case !r.Method.Remote() || r.State != payment.RefundDue && r.State != payment.RefundRefused:
		case r.State == payment.RefundRefused && s.sometimesRefundInPortal(d, r):
			s.finish(r, payment.RefundDone, "portal")
		default:
			s.finish(r, payment.RefundSending, "due")
		}
	}
}

// sometimesRefundInPortal refunds in LINE Pay's portal at random and reports whether it did.
func (s *orderStory) sometimesRefundInPortal(d ordering.Detail, r payment.Refund) bool {
	i := slices.IndexFunc(d.Attempts, func(a payment.Attempt) bool { return a.ID == r.AttemptID })
	return r.Method == payment.LINEPay && s.random.IntN(2) == 0 &&
		s.refundInPortal(d.Attempts[i], r.Amount) != ""
}

// refundInPortal refunds an amount in a gateway's portal. It returns the portal's reference, or "" if the rest of the
// payment is too small.
func (s *orderStory) refundInPortal(a payment.Attempt, amount int64) string {
	if a.Method == payment.VNPay {
		return s.v.vnpay.RefundInPortal(a.ID, amount)
	}
	return s.v.line.RefundInPortal(a.GatewayRef, json.Number(fmt.Sprint(amount)))
}

// portalFirst refunds a part in the portal and records it afterwards, twice. It does nothing while another refund is in
// progress, because two refunds of the same amount could not be told apart.
func (s *orderStory) portalFirst() {
	d, err := s.v.orders.Order(s.v.t.Context(), ordering.Staff(authz.System()), s.order.ID)
	s.v.check(err)
	open := slices.ContainsFunc(d.Refunds, func(r payment.Refund) bool { return r.State != payment.RefundDone })
	i := slices.IndexFunc(d.Attempts, func(a payment.Attempt) bool { return a.State == payment.Paid && !refundDue(d, a) })
	if s.v.broken || open || i < 0 || !d.Attempts[i].Method.Remote() || d.PaymentStatus != ordering.Paid || d.Refunded+500 > d.Total {
		return
	}
	number := s.refundInPortal(d.Attempts[i], 500)
	for range 2 {
		body := map[string]any{"amount": 500, "reason": "portal", "byHand": true, "reference": number}
		if n := s.v.try(http.MethodPost, "/api/orders/"+s.order.ID+"/refunds", "", body, nil); n != http.StatusCreated {
			s.v.t.Errorf("what was given back in the portal as %q is noted with %d", number, n)
		}
	}
}

// replayAndForge replays requests of old browsers and sends forged ones.
func (s *orderStory) replayAndForge() {
	d, err := s.v.orders.Order(s.v.t.Context(), ordering.Staff(authz.System()), s.order.ID)
	s.v.check(err)
	for _, a := range d.Attempts {
		if a.Method == payment.LINEPay {
			s.v.get(s.v.url + "/payment/linepay/confirm?transactionId=" + a.GatewayRef + "&orderId=" + a.ID)
			continue
		}
		query := s.v.notice(a.ID, "vnp_Amount", fmt.Sprint(a.Amount*100))
		s.v.get(s.v.url + "/payment/vnpay/ipn?" + strings.ToUpper(query))
		s.v.get(s.v.url + "/payment/vnpay/return?" + query)
	}
}

// try sends JSON as a guest or as the staff. A status of 500 fails the test unless the database is broken.
func (v *soak) try(method, path, token string, body, into any) int {
	status, answer := v.post(method, path, token, body, into)
	if status == http.StatusInternalServerError && !v.broken {
		v.t.Errorf("%s %s: status 500 with body %s", method, path, answer)
	}
	return status
}

// settleAll removes all faults and lets the background jobs and the staff settle everything that is open.
func (v *soak) settleAll() {
	v.t.Helper()
	v.vnpayFaults(vnpaysim.Faults{})
	v.lineFaults()
	for range 30 {
		v.Advance(6 * time.Minute)
		v.runJobsUntilIdle()
	}
	for range 8 {
		v.staff()
		v.runJobsUntilIdle()
		v.Advance(4 * time.Hour) // refunds in progress succeed, or are given up, within days
	}
}

// runJobsUntilIdle runs the background jobs until they no longer change what is due. What remains are refunds that wait for
// another one of their payment, which is tried again later.
func (v *soak) runJobsUntilIdle() {
	v.t.Helper()
	for before := []string{"nothing known"}; ; {
		v.runJobs()
		now := v.Now().UnixMilli()
		due := v.read(fmt.Sprintf(`SELECT id FROM payment_attempt WHERE check_at <= %d
			UNION ALL SELECT id FROM refund WHERE send_at <= %d`, now, now))
		if slices.Equal(due, before) || len(due) == 0 {
			return
		}
		before = due
	}
}

// staff acts on refunds that were rejected, not sent or have an unknown outcome, according to the gateways' consoles.
func (v *soak) staff() {
	refunded := v.refundedAt()
	open := v.read("SELECT DISTINCT order_id FROM refund WHERE state <> 'DONE'")
	for _, s := range v.placed {
		if !slices.Contains(open, s.order.ID) {
			continue
		}
		d, err := v.orders.Order(v.t.Context(), ordering.Staff(authz.System()), s.order.ID)
		v.check(err)
		given := seenInConsole(d, refunded)
		for _, r := range d.Refunds {
			switch {
			case r.State == payment.RefundDone:
			case given[r.ID]:
				s.finish(r, payment.RefundDone, "console")
			case r.State == payment.RefundUnknown:
				s.finish(r, payment.RefundDone, byHand)
			case r.State != payment.RefundSending:
				s.finish(r, payment.RefundSending, "again")
			}
		}
	}
}

// byHand is the note of a refund that was made outside the gateways.
const byHand = "by hand"

func (s *orderStory) finish(r payment.Refund, state payment.RefundState, note string) {
	s.v.try(http.MethodPost, "/api/orders/"+s.order.ID+"/refunds/"+r.ID, "", map[string]string{"state": string(state), "reason": note}, nil)
}

// seenInConsole returns the open refunds that a gateway has made without our knowledge. It selects those that add up to
// the gateway's refunds beyond the completed ones.
func seenInConsole(d ordering.Detail, refunded map[string]int64) map[string]bool {
	open := map[string][]payment.Refund{}
	missing := maps.Clone(refunded)
	for _, r := range d.Refunds {
		switch {
		case r.State != payment.RefundDone:
			open[r.AttemptID] = append(open[r.AttemptID], r)
		case r.Note != byHand:
			missing[r.AttemptID] -= r.Amount
		}
	}
	found := map[string]bool{}
	for attempt, parts := range open {
		for subset := 1; subset < 1<<len(parts) && missing[attempt] > 0; subset++ {
			sum, these := int64(0), map[string]bool{}
			for i, r := range parts {
				if subset>>i&1 == 1 {
					sum += r.Amount
					these[r.ID] = true
				}
			}
			if sum == missing[attempt] {
				maps.Copy(found, these)
				break
			}
		}
	}
	return found
}

// refundDue reports whether an attempt's payment must be refunded as a whole, such as a second or late payment.
func refundDue(d ordering.Detail, a payment.Attempt) bool {
	return slices.ContainsFunc(d.Refunds, func(r payment.Refund) bool { return r.AttemptID == a.ID && r.Reason != payment.RefundedByStaff })
}

// amountsByKey returns the rows of a query for a text and a number.
func (v *soak) amountsByKey(query string) map[string]int64 {
	v.t.Helper()
	stmt := sqldb.Load(fstest.MapFS{"it.sql": {Data: []byte(query)}}).Must("it")
	all := map[string]int64{}
	testenv.NoError(v.t, sqldb.Each(v.t.Context(), v.db, func(r sqldb.Rows) error {
		var key string
		var n int64
		err := r.Scan(&key, &n)
		all[key] = n
		return err
	}, stmt))
	return all
}
