package orderinghttp

import (
	"context"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/price"
)

// registerDiscounts registers the routes of discounts. They form a module of their own: by default managers may set
// them, up to the ceilings of the branch, and cashiers may not.
func (r routes) registerDiscounts(a *httpapi.API) {
	ops := a.Operations("Discounts", httpapi.Staff)
	httpapi.Register(ops, "order-discount", "PUT /api/orders/{id}/discount",
		"Set the discount of an unpaid order", r.discount)
	httpapi.Register(ops, "order-discount-remove", "DELETE /api/orders/{id}/discount",
		"Remove the discount of an unpaid order", r.removeDiscount)
}

type discountInput struct {
	ID   string `path:"id" maxLength:"64"`
	Body struct {
		Code    string        `json:"code" pattern:"^[A-Z0-9_]{1,20}$" doc:"A discount of the branch's pricing."`
		Percent price.Percent `json:"percent,omitempty" pattern:"^(100(\\.0{1,4})?|[0-9]{1,2}(\\.[0-9]{1,4})?)$" doc:"Only for a PERCENT discount without a value."`
		Amount  *int64        `json:"amount,omitempty" minimum:"1" maximum:"1000000000" doc:"Only for an AMOUNT discount without a value."`
		Reason  string        `json:"reason,omitempty" text:"lines" maxLength:"500"`
	}
}

func (r routes) discount(ctx context.Context, in *discountInput) (staffDetail, error) {
	return r.discounted(ctx, in.ID, ordering.DiscountRequest{
		Code: in.Body.Code, Percent: in.Body.Percent, Amount: in.Body.Amount, Reason: in.Body.Reason,
	})
}

func (r routes) removeDiscount(ctx context.Context, in *httpapi.ByText) (staffDetail, error) {
	return r.discounted(ctx, in.ID, ordering.DiscountRequest{})
}

func (r routes) discounted(ctx context.Context, id string, d ordering.DiscountRequest) (staffDetail, error) {
	if _, err := r.orders.Discount(ctx, authz.ActorOf(ctx), id, d); err != nil {
		return staffDetail{}, err
	}
	return r.staffGet(ctx, &httpapi.ByText{ID: id})
}
