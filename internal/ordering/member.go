package ordering

import (
	"context"

	"comanda/internal/identity"
	"comanda/internal/payment"
)

// MemberOrder returns an order of a member. For another member's order it returns ErrNotFound, as for a missing one.
func (s *Service) MemberOrder(ctx context.Context, who identity.Actor, id string) (Detail, error) {
	d, err := s.order(ctx, id)
	if err == nil && (d.UserID == 0 || d.UserID != who.UserID) {
		return Detail{}, ErrNotFound
	}
	return d, err
}

// MemberOrders returns a page of a member's orders, newest first, and the total number.
func (s *Service) MemberOrders(ctx context.Context, who identity.Actor, limit, offset int) ([]Order, int64, error) {
	return s.Reader.OfMember(ctx, who.UserID, limit, offset)
}

// MemberCancel cancels a member's unpaid order.
func (s *Service) MemberCancel(ctx context.Context, who identity.Actor, id string) (Order, error) {
	if _, err := s.MemberOrder(ctx, who, id); err != nil {
		return Order{}, err
	}
	return s.end(ctx, End{OrderID: id, Reason: UserCanceled})
}

// MemberPay starts another payment attempt on a member's unpaid order. It returns the order and the payment page, ""
// for methods without one.
func (s *Service) MemberPay(
	ctx context.Context, who identity.Actor, id string, m payment.Method, c Client,
) (Order, string, error) {
	if err := s.Methods.Check(m); err != nil {
		return Order{}, "", err
	}
	d, err := s.MemberOrder(ctx, who, id)
	if err != nil {
		return Order{}, "", err
	}
	return s.try(ctx, d.Order, m, c)
}
