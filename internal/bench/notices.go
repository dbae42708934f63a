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

	"comanda/internal/bench/load"
	"comanda/internal/sqldb"
)

// Site is the VNPay merchant account that the server was started with. The benchmark signs notifications with it, like
// VNPay. Otherwise the server would refuse every notification as forged, and the refusals would be measured.
type Site struct{ TmnCode, HashSecret string }

// NoticeLoads are the measurements of payment notifications (IPN) from VNPay.
type NoticeLoads struct {
	First RoundsLoad `json:"first"` // each pays another order
	Again RoundsLoad `json:"again"` // the same notifications sent again; they change nothing
}

const (
	placeConns  = 64 // for placing the orders, which is not measured: enough for large group commits
	noticePath  = "/payment/vnpay/ipn"
	noticeWarms = 10 // one tenth of the notifications warm up
)

// notices measures payment notifications. It places orders for as long as a measurement takes, then sends the
// notification of each once, and when the server has processed them, once more.
func (s *session) notices(ctx context.Context) error {
	name, startMillis := run(), s.db.Now().UnixMilli()
	if _, err := s.ask(ctx, load.Plan{Conns: placeConns, Want: http.StatusCreated, Requests: func(conn int) func() []byte {
		return s.product.orders("VNPAY", name, conn, s.product.items[:1])
	}}); err != nil {
		return err
	}
	s.settle(ctx)
	// The attempts were inserted seconds ago, and the planner must not assume that their table is empty.
	if err := s.analyze(ctx); err != nil {
		return err
	}
	owed, err := sqldb.Collect(ctx, s.db, scanUnpaid, stmt("attempt_list"), s.product.branch, s.product.bizDate, startMillis)
	if err != nil {
		return err
	}
	if len(owed) < noticeWarms {
		return fmt.Errorf("%d orders await payment by VNPay, at least %d are needed", len(owed), noticeWarms)
	}
	var warm, first, again roundsSum
	// Notifications of the warm-up are not sent again.
	warmCount := len(owed) / noticeWarms
	for _, part := range []struct {
		*roundsSum
		unpaid []unpaid
	}{{&warm, owed[:warmCount]}, {&first, owed[warmCount:]}, {&again, owed[warmCount:]}} {
		if err := s.sendRound(ctx, part.roundsSum, http.StatusOK, s.product.notices(s.VNPay, part.unpaid)); err != nil {
			return err
		}
	}
	s.report.Notices = &NoticeLoads{First: first.result(), Again: again.result()}
	return s.checkPaid(ctx, startMillis, len(owed))
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
