package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"
)

// trusted has the fields of an account that these tests read.
type trusted struct {
	ID         string   `json:"id"`
	Email      string   `json:"email"`
	TrustScore int      `json:"trustScore"`
	FraudFlags []string `json:"fraudFlags"`
	Version    int64    `json:"version"`
}

// An order that expires unpaid lowers its member's trust score by the restaurant's rule, and then the member may have one
// unpaid order at a time. Staff find the member by the exact e-mail address, add a flag and remove it.
func TestTrust(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		rules := shortWindow(4*time.Second, time.Second)
		maps.Copy(rules, limited)
		maps.Copy(rules, settings{"TRUST_EXPIRED": "30", "TRUST_PREPAY": "80"})
		s := open(t, k, rules)
		owner := s.createStaff("OWNER", "")
		lan, minh := s.newMember("lan"), s.newMember("minh")
		var me trusted
		lan.send(http.MethodGet, "/me", nil).want(t, http.StatusOK, "").into(t, &me)
		if me.TrustScore != 100 || len(me.FraudFlags) != 0 {
			t.Errorf("a new member has the score %d and the flags %v", me.TrustScore, me.FraudFlags)
		}
		find := func(query string) (all []trusted) {
			t.Helper()
			var page struct {
				Items []trusted `json:"items"`
			}
			owner.send(http.MethodGet, "/api/users?"+query, nil).want(t, http.StatusOK, "").into(t, &page)
			return page.Items
		}
		byEmail := "email=" + url.QueryEscape(me.Email)
		awaitScore := func(score int, flags ...string) {
			t.Helper()
			// Waiting in SQL does not use up the limit of requests.
			s.await(patience, func() error {
				if got := s.queryNumber("SELECT trust_score FROM app_user WHERE id = " + lan.id); got != int64(score) {
					return fmt.Errorf("the score is %d, want %d", got, score)
				}
				return nil
			})
			got := find(byEmail)
			if len(got) != 1 || got[0].ID != lan.id || got[0].TrustScore != score || !slices.Equal(got[0].FraudFlags, flags) {
				t.Errorf("found %+v, want the score %d with %v", got, score, flags)
			}
		}
		lan.addToCart(pho, 1).want(t, http.StatusCreated, "")
		expired := lan.checkOut("expires").want(t, http.StatusCreated, "").checkedOut(t)
		awaitScore(70, "EXPIRED_ORDER")

		lan.addToCart(pho, 1).want(t, http.StatusCreated, "")
		lan.checkOut("first").want(t, http.StatusCreated, "")
		lan.addToCart(bun, 1).want(t, http.StatusCreated, "")
		lan.checkOut("second").want(t, http.StatusTooManyRequests, "too_many_unpaid")
		for n := range 2 { // others may have several
			minh.addToCart(pho, 1).want(t, http.StatusCreated, "")
			minh.checkOut(fmt.Sprint("order ", n)).want(t, http.StatusCreated, "")
		}

		flags := "/api/users/" + lan.id + "/flags"
		noShow := map[string]string{"kind": "NO_SHOW", "orderId": expired.OrderID, "note": "Waited until closing."}
		var made struct {
			ID string `json:"id"`
		}
		owner.send(http.MethodPost, flags, noShow).want(t, http.StatusCreated, "").into(t, &made)
		owner.send(http.MethodPost, flags, noShow).want(t, http.StatusConflict, "flag_exists")
		owner.send(http.MethodPost, "/api/users/"+minh.id+"/flags", noShow).want(t, http.StatusUnprocessableEntity, "flag_order")
		owner.send(http.MethodPost, "/api/users/"+owner.id+"/flags", map[string]string{"kind": "NO_SHOW"}).
			want(t, http.StatusUnprocessableEntity, "flag_staff")
		lan.send(http.MethodGet, flags, nil).want(t, http.StatusForbidden, "forbidden")
		if got := find(byEmail)[0]; got.TrustScore > 50 || !slices.Contains(got.FraudFlags, "NO_SHOW") {
			t.Errorf("after a no-show: %+v", got)
		}
		owner.send(http.MethodDelete, flags+"/"+made.ID, nil).want(t, http.StatusNoContent, "")
		owner.send(http.MethodDelete, flags+"/"+made.ID, nil).want(t, http.StatusNotFound, "flag_not_found")
		awaitScore(40, "EXPIRED_ORDER") // the second order has expired by now
		type flagPage struct {
			Items             []struct{ OrderID string }
			Page, Size, Total int
		}
		read := func(query string) (p flagPage) {
			owner.send(http.MethodGet, flags+query, nil).want(t, http.StatusOK, "").into(t, &p)
			return p
		}
		all, second := read(""), read("?size=1&page=2")
		if len(all.Items) != 2 || all.Items[1].OrderID != expired.OrderID || all.Page != 1 || all.Size != 200 || all.Total != 2 {
			t.Errorf("the flags are %+v, want two on a page of 200, the older one last", all)
		}
		if len(second.Items) != 1 || second.Items[0].OrderID != expired.OrderID || second.Page != 2 || second.Total != 2 {
			t.Errorf("the second page is %+v, want the older flag of two", second)
		}
		owner.send(http.MethodGet, flags+"?size=201", nil).want(t, http.StatusUnprocessableEntity, "invalid")
		for _, query := range []string{"email=nobody%40example.com", "phone=0000", "deviceId=x", "googleId=x", "username=nobody"} {
			if got := find(query); len(got) != 0 {
				t.Errorf("%s finds %+v", query, got)
			}
		}
		owner.send(http.MethodGet, "/api/users?phone=1&deviceId=x", nil).want(t, http.StatusUnprocessableEntity, "invalid")
	}, embedded, servers)
}
