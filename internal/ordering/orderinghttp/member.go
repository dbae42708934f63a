package orderinghttp

import (
	"cmp"
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/payment"
)

// registerMember registers the members' order routes. The access token identifies the member.
func (r routes) registerMember(a *httpapi.API) {
	ops := a.Operations("Members", httpapi.Member)
	httpapi.RegisterOutput(a.Operations("Cart", httpapi.Member), "checkout", "POST /cart/checkout",
		"Place an order from your cart", r.checkOut, httpapi.Created)
	httpapi.Register(ops, "member-orders", "GET /orders", "List your orders, newest first", r.memberOrders)
	httpapi.Register(ops, "member-order", "GET /orders/{id}", "View one of your orders", r.memberOrder)
	httpapi.Register(ops, "member-order-cancel", "POST /orders/{id}/cancel",
		"Cancel one of your unpaid orders", r.memberCancel)
	httpapi.Register(ops, "member-order-pay", "POST /orders/{id}/pay",
		"Start another payment attempt for your order", r.memberPay)
	httpapi.Register(ops, "member-order-more-time", "POST /orders/{id}/more-time",
		"Get five more minutes to pay your order, at most twice", r.memberMoreTime)
}

type checkoutInput struct {
	Device
	Body checkoutBody
}

type checkoutBody struct {
	Kind            string `json:"kind,omitempty" enum:"DELIVERY,PICKUP" doc:"DELIVERY by default."`
	BranchID        string `json:"branchId,omitempty" pattern:"^[1-9][0-9]{0,17}$" doc:"By default the cart's branch."`
	ReceiverName    string `json:"receiverName" text:"line" minLength:"1" maxLength:"120"`
	ReceiverPhone   string `json:"receiverPhone" text:"line" minLength:"6" maxLength:"32" doc:"In E.164 or national format."`
	ReceiverAddress string `json:"receiverAddress,omitempty" text:"line" maxLength:"300" doc:"Required for DELIVERY."`
	ReceiverEmail   string `json:"receiverEmail,omitempty" text:"line" maxLength:"254"`
	ReceiverNote    string `json:"receiverNote,omitempty" text:"lines" maxLength:"200" doc:"Note for the courier, such as a gate code, a floor or a meeting point."`
	PaymentMethod   string `json:"paymentMethod" text:"exact" minLength:"1" maxLength:"20" doc:"COUNTER, VNPAY, LINEPAY or SANDBOX, if available."`
	ClientTxnID     string `json:"clientTxnId" text:"exact" minLength:"1" maxLength:"64" doc:"Chosen by the client; the same id and body return the same order."`
	ExpectedTotal   *int64 `json:"expectedTotal,omitempty" minimum:"0" doc:"The total that the member was shown; the order is refused if it differs."`
	Voucher         string `json:"voucher,omitempty" text:"line" maxLength:"40" doc:"Code of a voucher."`
}

// checkout converts the body; the member comes from the session.
func (b checkoutBody) checkout() ordering.Checkout {
	return ordering.Checkout{
		Branch: httpapi.IDOf(b.BranchID), Kind: cmp.Or(ordering.Kind(b.Kind), ordering.Delivery),
		Method: payment.Method(b.PaymentMethod), ClientTxnID: b.ClientTxnID, ExpectedTotal: b.ExpectedTotal,
		Voucher: b.Voucher,
		Receiver: ordering.Receiver{
			Name: b.ReceiverName, Phone: b.ReceiverPhone, Address: b.ReceiverAddress, Email: b.ReceiverEmail,
			Note: b.ReceiverNote,
		},
	}
}

type checkedOut struct {
	OrderID       string  `json:"orderId"`
	Number        string  `json:"number"`
	TotalPrice    int64   `json:"totalPrice" doc:"Minor units of the currency."`
	Currency      string  `json:"currency"`
	Status        string  `json:"status"`
	PaymentStatus string  `json:"paymentStatus"`
	PaymentURL    *string `json:"paymentUrl"`
}

// checkOut turns the member's cart into an order: 201 for a new one, 200 for a repetition.
func (r routes) checkOut(ctx context.Context, in *checkoutInput) (*httpapi.Creation[checkedOut], error) {
	c := in.Body.checkout()
	if err := r.orders.CheckForm(c); err != nil { // checked before the limits, so that an invalid request does not count
		return nil, err
	}
	// Members have the same rate-limit policy as guests. The actor's id is used in place of the phone.
	actor := authz.ActorOf(ctx)
	if err := httpapi.Allow(ctx, "order_guest", actor.String()); err != nil {
		return nil, err
	}
	if err := voucherLimited(ctx, c.Voucher, actor.String()); err != nil {
		return nil, err
	}
	receipt, err := r.orders.CheckOut(ctx, actor, c)
	if err != nil {
		return nil, err
	}
	o := receipt.Order
	return httpapi.CreationOf(receipt.New, checkedOut{
		OrderID: o.ID, Number: ordering.ShortNumber(o.Number), TotalPrice: o.Total, Currency: string(o.Currency),
		Status: string(o.Status), PaymentStatus: string(o.PaymentStatus),
		PaymentURL: httpapi.OrNull(r.page(ctx, o, in.Device)),
	}), nil
}

type memberOrdersInput struct {
	httpapi.Language
	httpapi.ShortPaging
}

type receiver struct {
	Name    string `json:"name"`
	Phone   string `json:"phone"`
	Address string `json:"address"`
	Email   string `json:"email"`
	Note    string `json:"note" doc:"For the courier; empty without one."`
}

type memberOrder struct {
	Summary
	Kind     string    `json:"kind" enum:"DELIVERY,PICKUP"`
	BranchID string    `json:"branchId"`
	PlacedAt time.Time `json:"placedAt"`
	Receiver receiver  `json:"receiver"`
	Refunded int64     `json:"refunded" doc:"Part of totalPrice that is refunded or will be."`
	Items    []item    `json:"items"`
}

// memberOrderOf returns an order for its own member, who may see the whole receiver.
func memberOrderOf(o ordering.Order, l httpapi.Language) memberOrder {
	r := o.Receiver
	return memberOrder{
		Summary: summaryOf(o), Kind: string(o.Kind), BranchID: httpapi.FormatID(o.Scope.Branch), PlacedAt: o.CreatedAt,
		Receiver: receiver{r.Name, r.Phone, r.Address, r.Email, r.Note}, Refunded: o.Refunded, Items: itemsIn(o.Items, l),
	}
}

func (r routes) memberOrders(ctx context.Context, in *memberOrdersInput) (httpapi.Listed[memberOrder], error) {
	orders, total, err := r.orders.MemberOrders(ctx, authz.ActorOf(ctx), in.Size, in.Offset())
	return httpapi.ListedOf(httpapi.Paging(in.ShortPaging), orders, total, func(o ordering.Order) memberOrder {
		return memberOrderOf(o, in.Language)
	}), err
}

type memberReadInput struct {
	httpapi.Language
	httpapi.ByText
}

// memberDetail is an order with everything that its member may see.
type memberDetail struct {
	Detail
	Kind     string    `json:"kind" enum:"DELIVERY,PICKUP"`
	BranchID string    `json:"branchId"`
	PlacedAt time.Time `json:"placedAt"`
	Receiver receiver  `json:"receiver"`
}

// memberDetailOf returns the details of an order for its own member; streams use it too.
func memberDetailOf(d ordering.Detail, l httpapi.Language) memberDetail {
	o := memberOrderOf(d.Order, l)
	return memberDetail{guestDetailOf(d, l), o.Kind, o.BranchID, o.PlacedAt, o.Receiver}
}

func (r routes) memberOrder(ctx context.Context, in *memberReadInput) (memberDetail, error) {
	d, err := r.orders.Order(ctx, ordering.Member(authz.ActorOf(ctx)), in.ID)
	return memberDetailOf(d, in.Language), err
}

func (r routes) memberCancel(ctx context.Context, in *httpapi.ByText) (canceled, error) {
	o, err := r.orders.Cancel(ctx, ordering.Member(authz.ActorOf(ctx)), in.ID)
	return canceledOf(o), err
}

type memberPayInput struct {
	Device
	ID   string `path:"id" maxLength:"64"`
	Body struct {
		Method string `json:"method" text:"exact" minLength:"1" maxLength:"20"`
	}
}

func (r routes) memberPay(ctx context.Context, in *memberPayInput) (Summary, error) {
	o, page, err := r.orders.Pay(
		ctx, ordering.Member(authz.ActorOf(ctx)), in.ID, payment.Method(in.Body.Method), in.client(),
	)
	return summaryOf(o).at(page), err
}

type memberMoreTimeInput struct {
	httpapi.Language
	ID   string `path:"id" maxLength:"64"`
	Body moreTime
}

func (r routes) memberMoreTime(ctx context.Context, in *memberMoreTimeInput) (memberDetail, error) {
	d, err := r.orders.ExtendDeadline(ctx, ordering.Member(authz.ActorOf(ctx)), in.ID, in.Body.PayBy)
	return memberDetailOf(d, in.Language), err
}
