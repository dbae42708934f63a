package notice

import (
	"context"
	"testing"

	"comanda/internal/testenv"
)

// growing is a store to which a notice is added between the first two reads of a page.
type growing struct {
	Store

	ids   []string // the newest first
	lists int
}

func (g *growing) State(context.Context, Reader) (State, error) {
	return State{Newest: g.ids[0], Unread: len(g.ids)}, nil
}

func (g *growing) List(_ context.Context, _ Reader, before string, limit int) (all []UserNotice, err error) {
	if g.lists++; g.lists == 1 {
		g.ids = append([]string{"2"}, g.ids...)
	}
	for _, id := range g.ids {
		if before == "" || id < before {
			all = append(all, UserNotice{ID: id})
		}
	}
	return all[:min(len(all), limit)], nil
}

// A page counts the notices that it lists, even if one arrives while it is read. A page of older ones needs no second read.
func TestService_Page_of_a_growing_list(t *testing.T) {
	for _, c := range []struct {
		before               string
		limit                int
		items, unread, reads int
		more                 bool
	}{
		{"", 5, 2, 2, 2, false},
		{"", 1, 1, 2, 2, true},
		{"2", 5, 1, 1, 1, false},
	} {
		store := &growing{ids: []string{"1"}}
		s := &Service{Store: store}
		p := testenv.Must(s.Page(t.Context(), Reader{}, c.before, c.limit))(t)
		if len(p.Items) != c.items || p.Unread != c.unread || store.lists != c.reads || p.More != c.more {
			t.Errorf("before %q: %+v after %d reads, want %+v", c.before, p, store.lists, c)
		}
	}
}
