package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"
)

// notices has the fields of a bell that these tests read.
type notices struct {
	Items []struct {
		ID      string  `json:"id"`
		Kind    string  `json:"kind"`
		OrderID *string `json:"orderId"`
		Read    bool    `json:"read"`
	} `json:"items"`
	Unread int `json:"unread"`
}

// Orders of a member and of a table, and a call, make notices through the events of the installation: the same with and
// without a broker, and after a flush of Redis in between. Each is seen by its reader only.
func TestNotices(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		lan, minh, g, other := s.newMember("lan"), s.newMember("minh"), s.guest(0), s.guest(1)
		owner := s.createStaff("OWNER", "")
		await := func(who string, read func() answer, want ...string) notices {
			t.Helper()
			var n notices
			s.await(30*time.Second, func() error {
				n = notices{}
				read().want(t, http.StatusOK, "").into(t, &n)
				var got []string
				for _, i := range n.Items {
					got = append(got, i.Kind)
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					return fmt.Errorf("%s sees %v, want %v", who, got, want)
				}
				return nil
			})
			return n
		}
		ofMember := func(m member) func() answer {
			return func() answer { return m.send(http.MethodGet, "/me/notices", nil) }
		}
		ofGuest := func(g guest) func() answer {
			return func() answer { return g.send(http.MethodGet, "/cis/notices", nil) }
		}
		lan.addToCart(pho, 1).want(t, http.StatusCreated, "")
		bought := lan.checkOut("first").want(t, http.StatusCreated, "").checkedOut(t)
		s.pay(bought.OrderID)
		await("the member", ofMember(lan), "ORDER_PAID")
		if s.redis != nil {
			s.flush()
		}
		for _, step := range []string{"accept", "start", "ready"} {
			s.staff(http.MethodPost, "/api/orders/"+bought.OrderID+"/"+step, nil).want(t, http.StatusOK, "")
		}
		n := await("the member", ofMember(lan), "ORDER_READY", "ORDER_PAID")
		if n.Unread != 2 || *n.Items[0].OrderID != bought.OrderID {
			t.Errorf("the member's bell shows %+v", n)
		}
		path := "/me/notices/" + n.Items[0].ID + "/read"
		minh.send(http.MethodPost, path, nil).want(t, http.StatusNotFound, "notice_not_found")
		lan.send(http.MethodPost, path, nil).want(t, http.StatusNoContent, "")
		if n := await("the member", ofMember(lan), "ORDER_READY", "ORDER_PAID"); n.Unread != 1 || !n.Items[0].Read {
			t.Errorf("after reading one, the bell shows %+v", n)
		}

		o := g.mustPlace(t, line{ItemID: pho, Qty: 1})
		s.pay(o.ID)
		await("the guest", ofGuest(g), "ORDER_PAID")
		g.send(http.MethodPost, "/cis/visit/"+g.visit+"/call", map[string]string{"reason": "BILL"}).want(t, http.StatusOK, "")
		await("the owner", func() answer { return owner.send(http.MethodGet, "/me/notices", nil) }, "TABLE_CALL")
		await("the guest of another table", ofGuest(other))
		await("another member", ofMember(minh))
	}, embedded, servers)
}
