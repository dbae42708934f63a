package ordering_test

import (
	"context"
	"errors"
	"testing"

	"comanda/internal/ordering"
	"comanda/internal/payment"
)

const someID = "06gvr4e1p1o037h61gjti47ea8"

type owners struct{ ordering.Payments }

func (owners) Owner(context.Context, string) (string, int64, bool, error) {
	return someID, 1, true, nil
}

type unreachableReader struct{ ordering.Reader }

var errAway = errors.New("the database is away")

func (unreachableReader) Order(context.Context, string) (ordering.Detail, bool, error) {
	return ordering.Detail{}, false, errAway
}

// A database error must not be reported as an unknown attempt: the gateway has to retry.
func TestService_Attempt_without_database(t *testing.T) {
	s := &ordering.Service{Payments: owners{}, Reader: unreachableReader{}}
	_, _, err := s.Attempt(t.Context(), someID)
	if !errors.Is(err, errAway) || errors.Is(err, payment.ErrAttempt) {
		t.Errorf("answered %v", err)
	}
}
