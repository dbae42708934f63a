package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"comanda/internal/document/documenttest"
	"comanda/internal/sqldb"
	"comanda/internal/testenv"
)

// Sizes of the write load.
const (
	writers  = 16 // concurrent writers
	signedUp = 40 // accounts; each costs hashing a password
)

var enough = testenv.Size(1_500, 10_000) // effective writes

// Concurrent writers change all nine models at random while Redis is killed twice and emptied once. Afterwards Redis
// equals SQL in both directions and holds only declared keys.
func TestDocuments(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		s := open(t, k, nil)
		o := newDocumentWriters(s)
		o.work(map[int]func(){
			1 * enough / 5: s.redis.Kill, 2 * enough / 5: s.redis.Restart, 5 * enough / 10: s.flush,
			3 * enough / 5: s.redis.Kill, 4 * enough / 5: s.redis.Restart,
		})
		for _, entity := range []string{
			"user", "role", "permission", "category", "dish", "cart", "cartDetail", "order", "orderDetail",
		} {
			if o.written[entity].Load() < 50 {
				t.Errorf("%s was written %d times", entity, o.written[entity].Load())
			}
		}
		v := s.awaitDocuments()
		for entity, n := range v.Documents {
			t.Logf("%6d of %s, %d writes", n, entity, o.written[entity].Load())
		}
		s.wantKeysDeclared()
		s.awaitConsistent()
		o.compare(t)
	}, servers)
}

// comparison is the output of `comanda index verify`.
type comparison struct {
	Clean     bool                `json:"clean"`
	Documents map[string]int      `json:"documents"`
	Found     map[string]int      `json:"found"`
	Samples   map[string][]string `json:"samples"`
}

// awaitDocuments waits until the documents equal SQL and include everything written. It takes over ten seconds if a
// rebuild's process was killed: another process takes the rebuild over only then.
func (s *installation) awaitDocuments() (v comparison) {
	s.t.Helper()
	s.awaitCommand(patience, func() error {
		run := s.run("index", "verify", "--json")
		v = comparison{}
		if err := json.Unmarshal([]byte(run.out), &v); err != nil {
			return fmt.Errorf("%w: %s%s", err, run.out, run.err)
		}
		if run.code != 0 || !v.Clean || len(v.Found) > 0 {
			return fmt.Errorf("exit code %d, %v: %v", run.code, v.Found, v.Samples)
		}
		return nil
	})
	return v
}

// wantKeysDeclared expects that a single audit of Redis finds nothing.
func (s *installation) wantKeysDeclared() {
	s.t.Helper()
	if run := s.run("keys", "audit", "--json", "--rate", "0"); run.code != 0 {
		s.t.Errorf("keys audit: exit code %d\n%s%s", run.code, run.out, run.err)
	}
}

// documentWriters is the state that concurrent writers share. They write through routes if the model has any. Otherwise
// they write rows, in a transaction that records the change as the product's packages do.
type documentWriters struct {
	s       *installation
	rows    documenttest.Writer
	token   string
	rights  []string
	guests  []guest
	written map[string]*atomic.Int64
	done    atomic.Int64
	version atomic.Value // menu version: a string

	mu    sync.Mutex
	users []string // ids of accounts
	roles []string // ids of roles created here
}

func newDocumentWriters(s *installation) *documentWriters {
	s.t.Helper()
	db := testenv.Must(sqldb.Open(s.t.Context(), sqldb.Config{URL: s.env["DATABASE_URL"], MaxConns: 8}))(s.t)
	s.t.Cleanup(db.Close)
	o := &documentWriters{s: s, rows: documenttest.Writer{DB: db}, written: map[string]*atomic.Int64{}}
	for _, entity := range []string{
		"user", "role", "permission", "category", "dish", "cart", "cartDetail", "order", "orderDetail",
	} {
		o.written[entity] = &atomic.Int64{}
	}
	const password = "a password of the office"
	s.env["PASSWORD"] = password
	s.must("user", "create", "--role", "owner", "--email", "owner@example.com")
	delete(s.env, "PASSWORD")
	var in struct {
		Token string `json:"accessToken"`
	}
	s.send(http.MethodPost, "/auth/login", map[string]string{"email": "owner@example.com", "password": password}).into(s.t, &in)
	o.token = in.Token
	var rights struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
	}
	o.send(http.MethodGet, "/api/permissions?size=100", nil).into(s.t, &rights)
	for _, r := range rights.Items {
		o.rights = append(o.rights, r.ID)
	}
	o.guests = make([]guest, writers)
	for i := range o.guests {
		o.guests[i] = s.guest(i)
	}
	o.version.Store(s.bill.Version)
	o.seed()
	return o
}

// seed creates the objects that others refer to. Their ids are far from those that the product assigns.
func (o *documentWriters) seed() {
	ctx, h := o.s.t.Context(), o.rows
	for i := range int64(10) {
		testenv.NoError(o.s.t, h.PutCategory(ctx, 900+i, "a category"), h.PutDish(ctx, 900+i, 900+i, "a dish"))
	}
	for i := range signedUp {
		o.register(i)
	}
	for i := range int64(signedUp) {
		id, _ := strconv.ParseInt(o.users[i], 10, 64)
		testenv.NoError(o.s.t, h.PutCart(ctx, 9000+i, id))
	}
}

func (o *documentWriters) ctx() context.Context { return o.s.t.Context() }

func (o *documentWriters) send(method, path string, body any) answer {
	return o.s.send(method, path, body, "Authorization", "Bearer "+o.token)
}

func (o *documentWriters) register(n int) {
	var made struct {
		ID string `json:"id"`
	}
	body := map[string]string{"email": fmt.Sprintf("member%d@example.com", n), "password": "a password of a member"}
	o.s.send(http.MethodPost, "/auth/register", body).want(o.s.t, http.StatusCreated, "").into(o.s.t, &made)
	o.users = append(o.users, made.ID)
	o.record("user")
}

func (o *documentWriters) record(entities ...string) {
	for _, e := range entities {
		o.written[e].Add(1)
	}
	o.done.Add(1)
}

// work runs the writers until enough writes are done. It calls each event when its number of writes is reached.
func (o *documentWriters) work(events map[int]func()) {
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() { o.write(n) })
	}
	over := make(chan struct{})
	go func() {
		all.Wait()
		close(over)
	}()
	at := make([]int, 0, len(events))
	for n := range events {
		at = append(at, n)
	}
	slices.Sort(at)
	for _, n := range at {
		o.s.await(10*patience, func() error {
			if done := o.done.Load(); done < int64(n) && !o.s.t.Failed() { // writers stop at a failure
				return fmt.Errorf("%d writes of %d", done, n)
			}
			return nil
		})
		events[n]()
	}
	<-over
}

// write performs random operations, the common ones more often.
func (o *documentWriters) write(n int) {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	menus := func() { o.publish(r) }
	if n > 0 {
		menus = func() { o.patch(r) } // only one writer at a time drafts a menu
	}
	things := []func(){
		func() { o.patch(r) }, func() { o.patch(r) }, func() { o.patch(r) }, func() { o.patch(r) },
		func() { o.order(r, o.guests[n]) }, func() { o.order(r, o.guests[n]) }, func() { o.newRole(r, n) },
		func() { o.changeRole(r) }, func() { o.changeRole(r) }, func() { o.dropRole(r) }, menus,
		func() { o.recordRow("category", o.rows.PutCategory(o.ctx(), 900+r.Int64N(10), word(r))) },
		func() { o.recordRow("dish", o.rows.PutDish(o.ctx(), 900+r.Int64N(10), 900+r.Int64N(10), word(r))) },
		func() { o.recordRow("permission", o.rows.PutPermission(o.ctx(), 9000+r.Int64N(20), word(r))) },
		func() { o.cart(r) }, func() { o.cart(r) }, func() { o.detail(r) }, func() { o.detail(r) },
		func() {
			o.recordRow("cartDetail", o.rows.DeleteDetail(o.ctx(), 100*(9000+r.Int64N(signedUp))+r.Int64N(10)))
		},
	}
	for o.done.Load() < int64(enough) && !o.s.t.Failed() {
		things[r.IntN(len(things))]()
	}
}

// word returns one of a few values, so that values recur, move between accounts and collide.
func word(r *rand.Rand) string {
	return []string{"Huế", "hanoi", "Hanoi", "Đà Nẵng", "Hội An", "Vinh"}[r.IntN(6)]
}

// recordAnswer records the result of a request. A conflict with another writer counts neither as a failure nor as a
// write.
func (o *documentWriters) recordAnswer(a answer, entities ...string) bool {
	switch {
	case a.status/100 == 2:
		o.record(entities...)
		return true
	case a.status == http.StatusConflict, a.status == http.StatusNotFound:
	default:
		o.s.t.Errorf("change of %v: %v, want success or 404 or 409", entities, a)
	}
	return false
}

// recordRow records the result of a transaction.
func (o *documentWriters) recordRow(entity string, err error) {
	switch {
	case err == nil:
		o.record(entity)
	case errors.Is(err, sqldb.ErrUnique), errors.Is(err, sqldb.ErrForeignKey):
	default:
		o.s.t.Errorf("change of %s: %v, want success or a violated constraint", entity, err)
	}
}

func (o *documentWriters) user(r *rand.Rand) string { return o.users[r.IntN(len(o.users))] }

// patch changes an account's fields. Names and phone numbers soon collide with another account's, which is refused.
func (o *documentWriters) patch(r *rand.Rand) {
	id := o.user(r)
	body := map[string]any{"province": word(r), "city": word(r)}
	switch r.IntN(4) {
	case 0:
		body["username"] = fmt.Sprintf("name%d", r.IntN(2*signedUp))
	case 1:
		body["phone"] = fmt.Sprintf("+8490123%04d", r.IntN(2*signedUp))
	}
	o.recordAnswer(o.send(http.MethodPatch, "/api/users/"+id, body), "user")
}

func (o *documentWriters) newRole(r *rand.Rand, n int) {
	var made struct {
		ID string `json:"id"`
	}
	o.mu.Lock()
	many := len(o.roles) > 30
	o.mu.Unlock()
	if many {
		o.changeRole(r)
		return
	}
	a := o.send(http.MethodPost, "/api/roles", map[string]string{"name": fmt.Sprintf("ROLE_%d_%d", n, r.IntN(1000))})
	if o.recordAnswer(a, "role") && json.Unmarshal(a.body, &made) == nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.roles = append(o.roles, made.ID)
	}
}

// role returns one of the roles created here, or "" if there is none.
func (o *documentWriters) role(r *rand.Rand, remove bool) (id string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.roles) == 0 {
		return ""
	}
	i := r.IntN(len(o.roles))
	if id = o.roles[i]; remove {
		o.roles = slices.Delete(o.roles, i, i+1)
	}
	return id
}

func (o *documentWriters) changeRole(r *rand.Rand) {
	id := o.role(r, false)
	switch {
	case id == "":
	case r.IntN(3) == 0:
		o.recordAnswer(o.send(http.MethodPatch, "/api/roles/"+id, map[string]string{"description": word(r)}), "role")
	default:
		rights := make([]string, 0, 5)
		for range r.IntN(5) {
			if right := o.rights[r.IntN(len(o.rights))]; !slices.Contains(rights, right) {
				rights = append(rights, right)
			}
		}
		o.recordAnswer(o.send(http.MethodPut, "/api/roles/"+id+"/permissions", map[string]any{"permissionIds": rights}), "role")
	}
}

func (o *documentWriters) dropRole(r *rand.Rand) {
	if id := o.role(r, true); id != "" {
		o.recordAnswer(o.send(http.MethodDelete, "/api/roles/"+id, nil), "role")
	}
}

// order places an order, which it then cancels, pays or leaves open.
func (o *documentWriters) order(r *rand.Rand, g guest) {
	w := g.request(line{ItemID: phoGa, Qty: 1 + r.Int64N(3)}, line{ItemID: bun, Qty: 1})
	w.MenuVersionID = o.version.Load().(string)
	a := g.place(w)
	if p, _ := a.problem(); p.Code == "menu_version_closed" {
		o.read()
		return
	}
	if !o.recordAnswer(a, "order", "orderDetail") {
		return
	}
	var placed order
	if json.Unmarshal(a.body, &placed) != nil {
		return
	}
	switch r.IntN(3) {
	case 0:
		o.recordAnswer(g.cancel(placed.ID), "order")
	case 1:
		o.recordAnswer(o.s.gateway(placed.ID, "SUCCESS"), "order")
	}
}

// read reads the active menu's version.
func (o *documentWriters) read() {
	var m menu
	a := o.s.send(http.MethodPost, "/cis/menu/active", map[string]string{"branchId": firstBranch})
	if a.status != http.StatusOK || json.Unmarshal(a.body, &m) != nil {
		o.s.t.Errorf("the menu: %v", a)
		return
	}
	o.version.Store(m.Version)
}

// publish changes a price, which appears in the documents of all dishes of the branch.
func (o *documentWriters) publish(r *rand.Rand) {
	var draft struct {
		ID string `json:"id"`
	}
	a := o.send(http.MethodPost, "/api/menus/1/versions", map[string]any{})
	if a.status != http.StatusCreated || json.Unmarshal(a.body, &draft) != nil {
		o.s.t.Errorf("a draft: %v", a)
		return
	}
	path := "/api/menu-versions/" + draft.ID
	entry := map[string]any{"price": 50_000 + r.Int64N(9)*1000, "dailyQuota": nil, "isActive": true}
	if a := o.send(http.MethodPut, path+"/items/"+phoGa, entry); a.status != http.StatusOK {
		o.s.t.Errorf("a price: %v", a)
		return
	}
	o.recordAnswer(o.send(http.MethodPost, path+"/publish", map[string]any{}), "dish")
}

// cart creates an account's cart, or deletes it with its lines.
func (o *documentWriters) cart(r *rand.Rand) {
	n := r.Int64N(signedUp)
	if r.IntN(2) == 0 {
		o.recordRow("cart", o.rows.DeleteCart(o.ctx(), 9000+n))
		return
	}
	id, _ := strconv.ParseInt(o.users[n], 10, 64) // ids are numbers
	o.recordRow("cart", o.rows.PutCart(o.ctx(), 9000+n, id))
}

func (o *documentWriters) detail(r *rand.Rand) {
	cart, dish := 9000+r.Int64N(signedUp), r.Int64N(10)
	o.recordRow("cartDetail", o.rows.PutDetail(o.ctx(), 100*cart+dish, cart, 900+dish, 1+r.Int64N(9)))
}

// compare compares the list of a place's accounts with the rows, page by page.
func (o *documentWriters) compare(t *testing.T) {
	t.Helper()
	where := url.Values{"province": {"Huế"}, "city": {"Hanoi"}, "registered": {"no"}, "size": {"1"}}
	var want []string
	ids := testenv.Must(sqldb.Collect(t.Context(), o.rows.DB, sqldb.Value[int64], statement(
		`SELECT id FROM app_user WHERE lower(province COLLATE "C") = 'huế' AND lower(city COLLATE "C") = 'hanoi'
		AND registered = 0 ORDER BY id`)))(t)
	for _, id := range ids {
		want = append(want, strconv.FormatInt(id, 10))
	}
	var got []string
	for page := 1; page <= len(want)+1; page++ {
		where.Set("page", strconv.Itoa(page))
		var list struct {
			Items []struct {
				ID string `json:"id"`
			} `json:"items"`
			Total int `json:"total"`
		}
		o.send(http.MethodGet, "/api/users?"+where.Encode(), nil).into(t, &list)
		for _, u := range list.Items {
			got = append(got, u.ID)
		}
		if list.Total != len(want) {
			t.Errorf("page %d of %d, want %d", page, list.Total, len(want))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}
