package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"comanda/internal/testenv"
)

// The names are stable: clients compare them.
func TestKind_Names(t *testing.T) {
	want := map[Kind]string{
		Internal: "internal", Invalid: "invalid", Unauthenticated: "unauthenticated", Forbidden: "forbidden",
		NotFound: "not_found", Conflict: "conflict", SoldOut: "sold_out", Gone: "expired", TooMany: "too_many",
		Unavailable: "unavailable",
	}
	if len(want) != len(kindNames) {
		t.Errorf("the table of this test knows %d kinds, the package %d", len(want), len(kindNames))
	}
	for k, name := range want {
		if k.String() != name {
			t.Errorf("kind %d is called %q, want %q", k, k, name)
		}
	}
}

func TestKind_UnknownIsInternal(t *testing.T) {
	testenv.Equal(t, "internal", Kind(200).String())
}

func TestWrap(t *testing.T) {
	if Wrap("place", nil) != nil {
		t.Error("no cause returns a fault")
	}

	err := Wrap("place order", io.ErrUnexpectedEOF)
	var f *Error
	if !errors.As(err, &f) || f.Kind != Internal || f.Detail != "" || f.Op != "place order" {
		t.Errorf("an unknown cause returns %#v", err)
	}
	testenv.ErrorIs(t, io.ErrUnexpectedEOF, err)

	soldOut := New(SoldOut, "sold_out", "Not enough left.")
	deep := Wrap("outer", Wrap("inner", fmt.Errorf("store: %w", soldOut)))
	if KindOf(deep) != SoldOut || !errors.Is(deep, soldOut) {
		t.Errorf("wrapping changed the kind: %v", deep)
	}
	if !strings.HasPrefix(deep.Error(), "outer: inner: store: ") {
		t.Errorf("the path is missing in %q", deep)
	}
}

func TestError_WithAndBecauseCopy(t *testing.T) {
	base := New(SoldOut, "sold_out", "Not enough left.")
	one := base.With("lines", []int{1})
	two := one.With("total", 5).Because(io.EOF)

	if base.Extra != nil || base.Err != nil || len(one.Extra) != 1 || one.Err != nil {
		t.Errorf("a copy changed its origin: %v %v", base, one)
	}
	testenv.Equal(t, map[string]any{"lines": []int{1}, "total": 5}, two.Extra)
	testenv.ErrorIs(t, io.EOF, two)
}

func TestError_IsComparesKindAndCode(t *testing.T) {
	sentinel := New(Conflict, "terminal", "The reservation has ended.")
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"itself":          {sentinel, true},
		"with members":    {sentinel.With("id", "7"), true},
		"wrapped":         {fmt.Errorf("op: %w", sentinel.Because(io.EOF)), true},
		"another detail":  {New(Conflict, "terminal", "Otherwise."), true},
		"another code":    {New(Conflict, "already_confirmed", ""), false},
		"another kind":    {New(Gone, "terminal", ""), false},
		"nothing of ours": {io.EOF, false},
	} {
		if got := errors.Is(c.err, sentinel); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
	testenv.ErrorIs(t, New(NotFound, "not_found", ""), New(NotFound, "", ""))
}

func TestError_Text(t *testing.T) {
	for want, err := range map[string]*Error{
		"internal":                  {},
		"order_closed":              {Kind: Gone, Code: "order_closed"},
		"place: invalid: No lines.": {Kind: Invalid, Detail: "No lines.", Op: "place"},
		"x: unavailable: EOF":       {Kind: Unavailable, Op: "x", Err: io.EOF},
		"too_many: Slow down.: EOF": {Kind: TooMany, Detail: "Slow down.", Err: io.EOF, RetryAfter: time.Second},
	} {
		testenv.Equal(t, want, err.Error())
	}
}

func TestNewf(t *testing.T) {
	f := Newf(Invalid, "too_long", "At most %d lines.", 50)
	if f.Kind != Invalid || f.Detail != "At most 50 lines." || f.PublicCode() != "too_long" {
		t.Errorf("fault %#v", f)
	}
}

func TestKindOf(t *testing.T) {
	for want, err := range map[Kind]error{
		Internal:  context.DeadlineExceeded,
		Forbidden: fmt.Errorf("a: %w", fmt.Errorf("b: %w", New(Forbidden, "", ""))),
	} {
		if got := KindOf(err); got != want {
			t.Errorf("kind of %v is %v, want %v", err, got, want)
		}
	}
}

func TestProblems(t *testing.T) {
	var p Problems
	if err := p.Err(); err != nil {
		t.Errorf("without a problem the error is %v, want none", err)
	}
	p.Addf("rates[1].percent", "percent_invalid", "must be at most %d", 100)
	p.Addf("name", "missing", "must be given")
	f, ok := errors.AsType[*Error](p.Err())
	if !ok || f.Kind != Invalid || f.PublicCode() != "invalid" || f.Detail != "rates[1].percent must be at most 100." {
		t.Fatalf("two problems become %v, want an Invalid fault about the first field", p.Err())
	}
	if members, ok := f.Extra["errors"].([]fieldMember); !ok || len(members) != 2 || members[1] != (fieldMember{"name", "missing", "must be given"}) {
		t.Errorf("the response has the errors %v, want both fields", f.Extra["errors"])
	}
}
