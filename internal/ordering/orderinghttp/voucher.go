package orderinghttp

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
)

// voucherLimited counts a request with a voucher's code, so that codes cannot be found by trying.
func voucherLimited(ctx context.Context, code, who string) error {
	if code == "" {
		return nil
	}
	return httpapi.Allow(ctx, "voucher", who)
}

// RegisterVouchers registers the routes of vouchers. By default owners and administrators have them, like the discounts
// that vouchers take off: a manager with them could pass every ceiling.
func RegisterVouchers(a *httpapi.API, s *ordering.Vouchers) {
	v := vouchers{s}
	ops := a.Operations("Vouchers", httpapi.Staff)
	httpapi.Register(ops, "voucher-list", "GET /api/branches/{id}/vouchers", "List the vouchers of a branch", v.list)
	httpapi.RegisterOutput(ops, "voucher-create", "POST /api/branches/{id}/vouchers", "Create a voucher", v.create,
		httpapi.Created)
	httpapi.Register(ops, "voucher-change", "PUT /api/branches/{id}/vouchers/{voucherId}",
		"Change the limits of a voucher", v.change)
	httpapi.RegisterOutput(ops, "voucher-end", "DELETE /api/branches/{id}/vouchers/{voucherId}", "End a voucher", v.end)
}

type vouchers struct{ service *ordering.Vouchers }

// VoucherTerms are the conditions of a voucher that can change. It is exported because huma only reads exported embedded
// fields.
type VoucherTerms struct {
	MaxUses  int64  `json:"maxUses,omitempty" minimum:"0" maximum:"1000000" doc:"How many orders may use it in all; absent or 0: no limit."`
	MinGoods int64  `json:"minGoods,omitempty" minimum:"0" maximum:"1000000000" doc:"Least sum of an order's items, in minor units."`
	From     string `json:"from,omitempty" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" doc:"First business date; absent: at once."`
	Until    string `json:"until,omitempty" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" doc:"Last business date, not before the current one; absent: until it is ended."`
}

func (t VoucherTerms) terms() ordering.VoucherTerms { return ordering.VoucherTerms(t) }

// voucher is a voucher as the staff see it. Its code is not stored.
type voucher struct {
	ID            string `json:"id"`
	Hint          string `json:"hint" doc:"The first two characters of the code."`
	Discount      string `json:"discount" doc:"Code of one of the branch's discounts."`
	OncePerMember bool   `json:"oncePerMember"`
	VoucherTerms

	Held      int64     `json:"held" doc:"Uses by unpaid orders."`
	Used      int64     `json:"used" doc:"Uses by paid orders."`
	CreatedAt time.Time `json:"createdAt"`
}

func voucherOf(v ordering.Voucher) voucher {
	return voucher{
		ID: httpapi.FormatID(v.ID), Hint: v.Hint, Discount: v.Discount, OncePerMember: v.OncePerMember,
		VoucherTerms: VoucherTerms(v.VoucherTerms), Held: v.Held, Used: v.Used, CreatedAt: v.CreatedAt,
	}
}

func (v vouchers) list(ctx context.Context, in *httpapi.ByID) (httpapi.List[voucher], error) {
	all, err := v.service.List(ctx, authz.ActorOf(ctx), in.ID)
	return httpapi.ListOf(all, len(all), voucherOf), err
}

type voucherCreateInput struct {
	ID   int64 `path:"id"`
	Body struct {
		Code          string `json:"voucher" text:"line" minLength:"4" maxLength:"40" doc:"The code: 4 to 20 letters, digits and hyphens. Case and spaces do not matter. It is not stored, so it cannot be shown again."`
		Discount      string `json:"discount" pattern:"^[A-Z0-9_]{1,20}$" doc:"Code of one of the branch's discounts that has a value."`
		OncePerMember bool   `json:"oncePerMember,omitempty" doc:"Each member may use it once, and guests without an account may not use it."`
		VoucherTerms
	}
}

func (v vouchers) create(ctx context.Context, in *voucherCreateInput) (*httpapi.Creation[voucher], error) {
	made, err := v.service.Create(ctx, authz.ActorOf(ctx), in.ID, ordering.NewVoucher{
		Code: in.Body.Code, Discount: in.Body.Discount, OncePerMember: in.Body.OncePerMember, VoucherTerms: in.Body.terms(),
	})
	if err != nil {
		return nil, err
	}
	return httpapi.CreationOf(true, voucherOf(made)), nil
}

type voucherInput struct {
	ID        int64 `path:"id"`
	VoucherID int64 `path:"voucherId"`
}

type voucherChangeInput struct {
	ID        int64 `path:"id"`
	VoucherID int64 `path:"voucherId"`
	Body      VoucherTerms
}

func (v vouchers) change(ctx context.Context, in *voucherChangeInput) (voucher, error) {
	changed, err := v.service.Change(ctx, authz.ActorOf(ctx), in.ID, in.VoucherID, in.Body.terms())
	return voucherOf(changed), err
}

func (v vouchers) end(ctx context.Context, in *voucherInput) (*struct{}, error) {
	return nil, v.service.End(ctx, authz.ActorOf(ctx), in.ID, in.VoucherID)
}
