package orderinghttp

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/payment"
)

// registerMember registers the members' order routes. The access token identifies the member.
func (r routes) registerMember(a *httpapi.API) {
	tags := []string{"Members"}
	httpapi.Register(a, huma.Operation{
		OperationID: "checkout", Method: http.MethodPost, Path: "/cart/checkout", Tags: []string{"Cart"},
		Summary: "Turn one's cart into an order", DefaultStatus: http.StatusCreated,
	}, httpapi.Member, r.checkOut)
	httpapi.Register(a, huma.Operation{
		OperationID: "member-orders", Method: http.MethodGet, Path: "/orders", Tags: tags,
		Summary: "One's own orders, the newest first",
	}, httpapi.Member, r.memberOrders)
	httpapi.Register(a, huma.Operation{
		OperationID: "member-order", Method: http.MethodGet, Path: "/orders/{id}", Tags: tags,
		Summary: "One of one's own orders",
	}, httpapi.Member, r.memberOrder)
	httpapi.Register(a, huma.Operation{
		OperationID: "member-order-cancel", Method: http.MethodPost, Path: "/orders/{id}/cancel", Tags: tags,
		Summary: "Cancel one's own unpaid order",
	}, httpapi.Member, r.memberCancel)
	httpapi.Register(a, huma.Operation{
		OperationID: "member-order-pay", Method: http.MethodPost, Path: "/orders/{id}/pay", Tags: tags,
		Summary: "Start another payment attempt on one's own order",
	}, httpapi.Member, r.memberPay)
	httpapi.Register(a, huma.Operation{
		OperationID: "member-order-more-time", Method: http.MethodPost, Path: "/orders/{id}/more-time", Tags: tags,
		Summary: "Five more minutes to pay one's own order, twice",
	}, httpapi.Member, r.memberMoreTime)
}

type checkoutInput struct {
	Device
	Body checkoutBody
}

type checkoutBody struct {
	Kind            string `json:"kind,omitempty" enum:"DELIVERY,PICKUP" doc:"DELIVERY by default."`
	BranchID        string `json:"branchId,omitempty" pattern:"^[1-9][0-9]{0,17}$" doc:"By default the cart's own."`
	ReceiverName    string `json:"receiverName" text:"line" minLength:"1" maxLength:"120"`
	ReceiverPhone   string `json:"receiverPhone" text:"line" minLength:"6" maxLength:"32" doc:"In the form of E.164 or national."`
	ReceiverAddress string `json:"receiverAddress,omitempty" text:"line" maxLength:"300" doc:"Needed for delivery."`
	ReceiverEmail   string `json:"receiverEmail,omitempty" text:"line" maxLength:"254"`
	ReceiverNote    string `json:"receiverNote,omitempty" text:"lines" maxLength:"200" doc:"For the courier: a gate code, a floor, where to meet."`
	PaymentMethod   string `json:"paymentMethod" text:"exact" minLength:"1" maxLength:"20" doc:"COUNTER, VNPAY, LINEPAY or SANDBOX, as far as they are offered."`
	ClientTxnID     string `json:"clientTxnId" text:"exact" minLength:"1" maxLength:"64" doc:"Chosen by the client; the same id and body return the same order."`
	ExpectedTotal   *int64 `json:"expectedTotal,omitempty" minimum:"0" doc:"What the member was shown; refused when it differs."`
}

// checkout converts the body; the member comes from the session.
func (b checkoutBody) checkout() (ordering.Checkout, error) {
	c := ordering.Checkout{
		Kind: ordering.Kind(b.Kind), Method: payment.Method(b.PaymentMethod), ClientTxnID: b.ClientTxnID,
		ExpectedTotal: b.ExpectedTotal,
		Receiver: ordering.Receiver{
			Name: b.ReceiverName, Phone: b.ReceiverPhone, Address: b.ReceiverAddress, Email: b.ReceiverEmail,
			Note: b.ReceiverNote,
		},
	}
	if c.Kind == "" {
		c.Kind = ordering.Delivery
	}
	var err error
	if b.BranchID != "" {
		c.Branch, err = parseID(b.BranchID)
	}
	return c, err
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

type checkoutOutput struct {
	Status int
	Body   checkedOut
}

// checkOut turns the member's cart into an order: 201 for a new one, 200 for a repetition.
func (r routes) checkOut(ctx context.Context, in *checkoutInput) (*checkoutOutput, error) {
	c, err := in.Body.checkout()
	if err == nil {
		err = r.orders.CheckForm(c)
	}
	if err != nil { // before limited: an invalid request must not use up the limit
		return nil, err
	}
	// Members share the policy of guests; the actor takes the place of the phone.
	who := authz.ActorOf(ctx)
	if err := httpapi.Allow(ctx, "order_guest", who.String()); err != nil {
		return nil, err
	}
	receipt, err := r.orders.CheckOut(ctx, who, c)
	if err != nil {
		return nil, err
	}
	o := receipt.Order
	out := &checkoutOutput{Status: http.StatusOK, Body: checkedOut{
		OrderID: o.ID, Number: ordering.ShortNumber(o.Number), TotalPrice: o.Total, Currency: string(o.Currency),
		Status: string(o.Status), PaymentStatus: string(o.PaymentStatus),
	}}
	if receipt.New {
		out.Status = http.StatusCreated
	}
	if page := r.page(ctx, o, in.Device); page != "" {
		out.Body.PaymentURL = &page
	}
	return out, nil
}

type memberOrdersInput struct {
	httpapi.Language
	Page int `query:"page" minimum:"1" maximum:"100000" default:"1"`
	Size int `query:"size" minimum:"1" maximum:"100" default:"20"`
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
	Kind     string   `json:"kind" enum:"DELIVERY,PICKUP"`
	BranchID string   `json:"branchId"`
	Receiver receiver `json:"receiver"`
	Items    []item   `json:"items"`
}

// memberOrderOf returns an order for its own member, who may see the whole receiver.
func memberOrderOf(o ordering.Order, l httpapi.Language) memberOrder {
	r := o.Receiver
	return memberOrder{
		Summary: summaryOf(o), Kind: string(o.Kind), BranchID: decimal(o.Scope.Branch),
		Receiver: receiver{r.Name, r.Phone, r.Address, r.Email, r.Note}, Items: itemsIn(o.Items, l),
	}
}

type memberOrdersOutput struct {
	Body struct {
		Items []memberOrder `json:"items"`
		Page  int           `json:"page"`
		Size  int           `json:"size"`
		Total int64         `json:"total"`
	}
}

func (r routes) memberOrders(ctx context.Context, in *memberOrdersInput) (*memberOrdersOutput, error) {
	orders, total, err := r.orders.MemberOrders(ctx, authz.ActorOf(ctx), in.Size, (in.Page-1)*in.Size)
	if err != nil {
		return nil, err
	}
	out := &memberOrdersOutput{}
	out.Body.Items, out.Body.Page, out.Body.Size, out.Body.Total = make([]memberOrder, len(orders)), in.Page, in.Size, total
	for i, o := range orders {
		out.Body.Items[i] = memberOrderOf(o, in.Language)
	}
	return out, nil
}

type memberInput struct {
	ID string `path:"id" maxLength:"64"`
}

type memberReadInput struct {
	httpapi.Language
	ID string `path:"id" maxLength:"64"`
}

// memberDetail is an order with everything that its member may see.
type memberDetail struct {
	Detail
	Kind     string   `json:"kind" enum:"DELIVERY,PICKUP"`
	BranchID string   `json:"branchId"`
	Receiver receiver `json:"receiver"`
}

// memberDetailOf returns the details of an order for its own member; streams use it too.
func memberDetailOf(d ordering.Detail, l httpapi.Language) *httpapi.Output[memberDetail] {
	o := memberOrderOf(d.Order, l)
	return httpapi.OutputOf(memberDetail{guestDetailOf(d, l), o.Kind, o.BranchID, o.Receiver})
}

func (r routes) memberOrder(ctx context.Context, in *memberReadInput) (*httpapi.Output[memberDetail], error) {
	d, err := r.orders.MemberOrder(ctx, authz.ActorOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return memberDetailOf(d, in.Language), nil
}

func (r routes) memberCancel(ctx context.Context, in *memberInput) (*httpapi.Output[canceled], error) {
	o, err := r.orders.MemberCancel(ctx, authz.ActorOf(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return canceledOf(o), nil
}

type memberPayInput struct {
	Device
	ID   string `path:"id" maxLength:"64"`
	Body struct {
		Method string `json:"method" text:"exact" minLength:"1" maxLength:"20"`
	}
}

func (r routes) memberPay(ctx context.Context, in *memberPayInput) (*httpapi.Output[Summary], error) {
	o, page, err := r.orders.MemberPay(
		ctx, authz.ActorOf(ctx), in.ID, payment.Method(in.Body.Method), in.client(),
	)
	if err != nil {
		return nil, err
	}
	return httpapi.OutputOf(summaryOf(o).at(page)), nil
}

type memberMoreTimeInput struct {
	httpapi.Language
	ID   string `path:"id" maxLength:"64"`
	Body moreTime
}

func (r routes) memberMoreTime(ctx context.Context, in *memberMoreTimeInput) (*httpapi.Output[memberDetail], error) {
	d, err := r.orders.MemberExtendDeadline(ctx, authz.ActorOf(ctx), in.ID, in.Body.PayBy)
	if err != nil {
		return nil, err
	}
	return memberDetailOf(d, in.Language), nil
}
