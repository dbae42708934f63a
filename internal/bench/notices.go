package bench

import (
	"context"
	"crypto/hmac"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"comanda/internal/sqldb"
)

// Site is the VNPay merchant account that the server was started with. The benchmark signs notifications with it, like
// VNPay. Otherwise the server would refuse every notification as forged, and the refusals would be measured.
type Site struct{ TmnCode, HashSecret string }

// NoticeLoads are the measurements of payment notifications (IPN) from VNPay.
type NoticeLoads struct {
	Rounds int        `json:"rounds"`
	First  RoundsLoad `json:"first"`           // each pays another order
	Again  RoundsLoad `json:"again"`           // the same notifications sent again; they change nothing
	Orders RoundsLoad `json:"orders"`          // as many orders of three lines, alternating with First
	Ratio  float64    `json:"firstOverOrders"` // median of the rounds
}

const (
	noticePath = "/payment/vnpay/ipn"

	// A round has so many requests of each connection that the simultaneous first and the last ones are a small part. After
	// each part of a round the server has to process it, which takes longer than the part.
	perConnection = 8
	noticeRounds  = 4
)

// notices measures payment notifications in rounds. Each round places orders to be paid, which is not measured, sends the
// notification of each, sends it again, and places as many orders of three lines. The server processes each part before the
// next one begins.
func (s *session) notices(ctx context.Context) error {
	name, p := run(), s.product
	var fills, first, again, orders roundsSum
	var ratios []float64
	n := p.conns * perConnection
	// A second earlier, because the server's clock may be behind this one. All attempts of earlier rounds are paid.
	startMillis := s.db.Now().Add(-time.Second).UnixMilli()
	for round := range 1 + noticeRounds {
		err := s.sendRound(ctx, &fills, http.StatusCreated, p.orderRequests("VNPAY", fmt.Sprint(name, "-f", round), n, 1))
		if err != nil {
			return err
		}
		owed, err := sqldb.Collect(ctx, s.db, scanUnpaid, stmt("attempt_list"), p.branch, p.bizDate, startMillis)
		if err != nil {
			return err
		}
		if len(owed) != n {
			return fmt.Errorf("%d orders await payment by VNPay, want %d", len(owed), n)
		}
		var paid, repeated, placed roundsSum
		for _, part := range []struct {
			*roundsSum
			want     int
			requests []func() []byte
		}{
			{&paid, http.StatusOK, p.notices(s.VNPay, owed)},
			{&repeated, http.StatusOK, p.notices(s.VNPay, owed)},
			{&placed, http.StatusCreated, p.orderRequests("COUNTER", fmt.Sprint(name, "-o", round), n, lineCount)},
		} {
			if err := s.sendRound(ctx, part.roundsSum, part.want, part.requests); err != nil {
				return err
			}
		}
		if err := s.checkPaid(ctx, startMillis, n*(round+1)); err != nil {
			return err
		}
		if round == 0 { // warm-up; the planner must not assume that the table of attempts is empty
			if err := s.analyze(ctx); err != nil {
				return err
			}
			continue
		}
		ratios = append(ratios, paid.PerSecond()/placed.PerSecond())
		first.add(paid)
		again.add(repeated)
		orders.add(placed)
	}
	s.report.Notices = &NoticeLoads{
		Rounds: len(ratios), First: first.result(), Again: again.result(), Orders: orders.result(), Ratio: median(ratios),
	}
	return nil
}

// orderRequests returns n orders of so many lines each, divided among the connections.
func (p *product) orderRequests(method, run string, n, lines int) []func() []byte {
	return shared(min(p.conns, n), n, func(i int) []byte {
		dishes := make([]string, lines)
		for l := range dishes {
			dishes[l] = p.items[(i*lines+l)%len(p.items)]
		}
		return p.order(i%p.conns, method, fmt.Sprintf("%s-%08d", run, i), dishes...)
	})
}

// checkPaid verifies that all notifications were accepted: the response to VNPay is always 200.
func (s *session) checkPaid(ctx context.Context, startMillis int64, want int) error {
	paid, err := sqldb.Scalar[int](ctx, s.db, stmt("paid_count"), s.product.branch, s.product.bizDate, startMillis)
	if err == nil && paid != want {
		err = fmt.Errorf("of %d reported payments %d are recorded", want, paid)
	}
	return err
}

// unpaid is a payment attempt without a result.
type unpaid struct {
	id     string
	amount int64 // in dong
}

var scanUnpaid = sqldb.Row(func(u *unpaid) []any {
	return []any{&u.id, &u.amount}
})

// notices divides the notifications among the connections. Texts are built and signed before the measurement, so that
// the generator does not compete with the server.
func (p *product) notices(site Site, all []unpaid) []func() []byte {
	texts := make([][]byte, len(all))
	for i, u := range all {
		texts[i] = p.target.Request(http.MethodGet, noticePath+"?"+site.notice(u, i+1), "")
	}
	return shared(min(p.conns, len(texts)), len(texts), func(i int) []byte { return texts[i] })
}

// notice returns the signed query of a payment notification, the n-th of this site. n makes the transaction numbers of
// one part differ.
func (s Site) notice(u unpaid, n int) string {
	number := strconv.Itoa(14_000_000 + n)
	data := url.Values{
		"vnp_TmnCode": {s.TmnCode}, "vnp_TxnRef": {u.id}, "vnp_Amount": {strconv.FormatInt(u.amount*100, 10)},
		"vnp_OrderInfo": {"Thanh toan don hang " + u.id}, "vnp_ResponseCode": {"00"}, "vnp_TransactionStatus": {"00"},
		"vnp_TransactionNo": {number}, "vnp_BankCode": {"NCB"}, "vnp_BankTranNo": {"VNP" + number}, "vnp_CardType": {"ATM"},
		"vnp_PayDate": {"20260226120000"},
	}.Encode() // sorted by key, with + for spaces, as VNPay requires
	h := hmac.New(sha512.New, []byte(s.HashSecret))
	h.Write([]byte(data))
	return data + "&vnp_SecureHash=" + hex.EncodeToString(h.Sum(nil))
}
