// Package noticehttp serves the notices of accounts and guests: lists, read marks, choices, live streams, and the
// subscriptions of browsers.
package noticehttp

import (
	"context"
	"strconv"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/notice"
	"comanda/internal/seq"
)

// GuestFinder returns the reader of a customer token while its orders may be read, and the hash of the token.
type GuestFinder interface {
	Reader(ctx context.Context, token string) (r notice.Reader, hash string, err error)
}

type routes struct {
	service  *notice.Service
	guests   GuestFinder
	branches func(ctx context.Context, by authz.Actor) ([]int64, error)
	key      func(ctx context.Context) (string, error)
}

// Register adds the routes. branches returns the branches that an account works in, and key the public key of Web Push.
func Register(
	a *httpapi.API, service *notice.Service, guests GuestFinder,
	branches func(ctx context.Context, by authz.Actor) ([]int64, error), key func(ctx context.Context) (string, error),
) {
	r := routes{service, guests, branches, key}
	r.registerMember(a.Operations("Members", httpapi.Member))
	r.registerGuest(a.Operations("Visits", httpapi.Guest))
	httpapi.Register(a.Operations("Visits", httpapi.Public), "push-key", "GET /cis/push-key",
		"View the key with which browsers subscribe to notices", r.pushKey)
}

func (r routes) registerMember(ops httpapi.Operations) {
	httpapi.Register(ops, "me-notices", "GET /me/notices", "List your notices, newest first", r.memberList)
	httpapi.RegisterStream[memberEventsInput, page](ops, "me-notices-events", "GET /me/notices/events",
		"Follow your notices live: the newest and the number of unread ones, then after every change", r.memberEvents)
	httpapi.RegisterOutput(ops, "me-notice-read", "POST /me/notices/{id}/read", "Mark one of your notices as read",
		r.memberRead)
	httpapi.RegisterOutput(ops, "me-notices-read", "POST /me/notices/read", "Mark your notices as read, up to a given one",
		r.memberReadAll)
	httpapi.Register(ops, "me-notice-choices", "GET /me/notice-choices", "View which notices you get", r.memberChoices)
	httpapi.Register(ops, "me-notice-choose", "PUT /me/notice-choices", "Choose which notices you get", r.memberChoose)
	httpapi.Register(ops, "me-push", "POST /me/push", "Get notices in this browser while the page is closed", r.memberPush)
	httpapi.RegisterOutput(ops, "me-push-end", "DELETE /me/push/{id}", "Stop notices in this browser",
		r.memberPushEnd)
}

func (r routes) registerGuest(ops httpapi.Operations) {
	httpapi.Register(ops, "guest-notices", "GET /cis/notices", "List the notices of a guest's visit, newest first",
		r.guestList)
	httpapi.RegisterStream[guestEventsInput, page](ops, "guest-notices-events", "GET /cis/notices/events",
		"Follow the notices of a guest's visit live", r.guestEvents)
	httpapi.RegisterOutput(ops, "guest-notice-read", "POST /cis/notices/{id}/read", "Mark a notice as read on this phone",
		r.guestRead)
	httpapi.RegisterOutput(ops, "guest-notices-read", "POST /cis/notices/read",
		"Mark the notices of a guest's visit as read on this phone, up to a given one", r.guestReadAll)
	httpapi.Register(ops, "guest-notice-choices", "GET /cis/notice-choices", "View which notices this phone gets",
		r.guestChoices)
	httpapi.Register(ops, "guest-notice-choose", "PUT /cis/notice-choices", "Choose which notices this phone gets",
		r.guestChoose)
	httpapi.Register(ops, "guest-push", "POST /cis/push",
		"Get notices of a guest's visit in this browser while the page is closed", r.guestPush)
	httpapi.RegisterOutput(ops, "guest-push-end", "DELETE /cis/push/{id}",
		"Stop notices of a guest's visit in this browser", r.guestPushEnd)
}

// member returns the reader of a request's account. Whom it sees is decided anew for each request, because branches and
// permissions change.
func (r routes) member(ctx context.Context) (notice.Reader, error) {
	by := authz.ActorOf(ctx)
	var branches []int64
	if authz.IsStaff(by.Role) {
		var err error
		if branches, err = r.branches(ctx, by); err != nil {
			return notice.Reader{}, err
		}
	}
	return notice.AccountReader(by, branches, func(k authz.RouteKey) bool { return authz.MayUse(ctx, k) }), nil
}

// noticeView is a notice in an answer. Clients make its text.
type noticeView struct {
	ID        string    `json:"id"`
	Kind      string    `json:"kind" enum:"ORDER_PAID,ORDER_READY,ORDER_CANCELED,ORDER_EXPIRED,ORDER_REFUNDED,STOCK_LOW,REFUND_DUE,TABLE_CALL,PAYMENT_MISMATCH"`
	BranchID  string    `json:"branchId"`
	OrderID   *string   `json:"orderId" doc:"null if it is not about an order."`
	Number    string    `json:"number,omitempty" doc:"Of the order."`
	OrderKind string    `json:"orderKind,omitempty" enum:"DINE_IN,PICKUP,DELIVERY"`
	Amount    int64     `json:"amount,omitempty" doc:"Of the refund, or as the gateway reported it, in minor units of the currency."`
	Currency  string    `json:"currency,omitempty"`
	Item      string    `json:"item,omitempty" doc:"Name of the stock item."`
	Left      int64     `json:"left,omitempty" doc:"Units of the stock item; omitted if it is sold out."`
	Table     string    `json:"table,omitempty" doc:"Label of the table that calls."`
	Reason    string    `json:"reason,omitempty" enum:"BILL,HELP,WATER"`
	CreatedAt time.Time `json:"createdAt"`
	Read      bool      `json:"read"`
}

func noticeViewOf(n notice.UserNotice) noticeView {
	return noticeView{
		ID: n.ID, Kind: string(n.Kind), BranchID: httpapi.FormatID(n.Branch), OrderID: httpapi.OrNull(n.OrderID),
		Number: n.Data.Number, OrderKind: n.Data.OrderKind, Amount: n.Data.Amount, Currency: n.Data.Currency, Item: n.Data.Item,
		Left: n.Data.Left, Table: n.Data.Table, Reason: n.Data.Reason, CreatedAt: n.CreatedAt, Read: n.Read,
	}
}

type page struct {
	Items  []noticeView `json:"items"`
	Unread int          `json:"unread" doc:"Number of all unread notices, at most 100."`
	Newest *string      `json:"newest" doc:"Id of the newest notice."`
	Next   *string      `json:"next" doc:"Pass it as before to get older notices; null if there are none."`
}

func pageOf(p notice.Page) page {
	v := page{Items: seq.Map(p.Items, noticeViewOf), Unread: p.Unread, Newest: httpapi.OrNull(p.Newest)}
	if p.More {
		v.Next = &v.Items[len(v.Items)-1].ID
	}
	return v
}

// Cursor is embedded in the inputs of lists. It is exported, because huma reads exported embedded types only.
type Cursor struct {
	Before string `query:"before" pattern:"^[0-9a-v]{26}$" doc:"Only notices older than this one."`
	Limit  int    `query:"limit" minimum:"1" maximum:"100" default:"20"`
}

type guestListInput struct {
	httpapi.GuestHeader
	Cursor
}

func (r routes) guestList(ctx context.Context, in *guestListInput) (page, error) {
	g, _, err := r.guests.Reader(ctx, string(in.CustomerToken))
	if err != nil {
		return page{}, err
	}
	return r.list(ctx, g, in.Cursor)
}

func (r routes) memberList(ctx context.Context, in *Cursor) (page, error) {
	m, err := r.member(ctx)
	if err != nil {
		return page{}, err
	}
	return r.list(ctx, m, *in)
}

func (r routes) list(ctx context.Context, of notice.Reader, c Cursor) (page, error) {
	p, err := r.service.Page(ctx, of, c.Before, c.Limit)
	if err != nil {
		return page{}, err
	}
	return pageOf(p), nil
}

// NoticeID is embedded in the inputs of one notice.
type NoticeID struct {
	ID string `path:"id" maxLength:"64"`
}

type guestReadInput struct {
	httpapi.GuestHeader
	NoticeID
}

func (r routes) guestRead(ctx context.Context, in *guestReadInput) (*struct{}, error) {
	g, _, err := r.guests.Reader(ctx, string(in.CustomerToken))
	if err != nil {
		return nil, err
	}
	return nil, r.service.MarkRead(ctx, g, in.ID)
}

func (r routes) memberRead(ctx context.Context, in *NoticeID) (*struct{}, error) {
	m, err := r.member(ctx)
	if err != nil {
		return nil, err
	}
	return nil, r.service.MarkRead(ctx, m, in.ID)
}

// UpTo is the body that marks notices as read.
type UpTo struct {
	UpTo string `json:"upTo" pattern:"^[0-9a-v]{26}$" doc:"The newest notice that was shown; later ones stay unread."`
}

type guestReadAllInput struct {
	httpapi.GuestHeader
	Body UpTo
}

func (r routes) guestReadAll(ctx context.Context, in *guestReadAllInput) (*struct{}, error) {
	g, _, err := r.guests.Reader(ctx, string(in.CustomerToken))
	if err != nil {
		return nil, err
	}
	return nil, r.service.MarkAllRead(ctx, g, in.Body.UpTo)
}

type memberReadAllInput struct{ Body UpTo }

func (r routes) memberReadAll(ctx context.Context, in *memberReadAllInput) (*struct{}, error) {
	m, err := r.member(ctx)
	if err != nil {
		return nil, err
	}
	return nil, r.service.MarkAllRead(ctx, m, in.Body.UpTo)
}

// choice states how a reader wants to get notices of a kind.
type choice struct {
	Kind string `json:"kind" enum:"ORDER_PAID,ORDER_READY,ORDER_CANCELED,ORDER_EXPIRED,ORDER_REFUNDED,STOCK_LOW,REFUND_DUE,TABLE_CALL,PAYMENT_MISMATCH"`
	Bell bool   `json:"bell" doc:"In the list, and counted by the bell."`
	Push bool   `json:"push" doc:"In subscribed browsers while the page is closed. Not for the staff's kinds."`
}

// Choices are the choices of a reader, in requests and responses.
type Choices struct {
	Choices []choice `json:"choices" maxItems:"9"`
}

func choicesOf(all []notice.Choice) Choices {
	return Choices{seq.Map(all, func(c notice.Choice) choice { return choice{string(c.Kind), c.Bell, c.Push} })}
}

type guestInput struct{ httpapi.GuestHeader }

func (r routes) guestChoices(ctx context.Context, in *guestInput) (Choices, error) {
	g, _, err := r.guests.Reader(ctx, string(in.CustomerToken))
	if err != nil {
		return Choices{}, err
	}
	all, err := r.service.Choices(ctx, g)
	return choicesOf(all), err
}

func (r routes) memberChoices(ctx context.Context, _ *struct{}) (Choices, error) {
	m, err := r.member(ctx)
	if err != nil {
		return Choices{}, err
	}
	all, err := r.service.Choices(ctx, m)
	return choicesOf(all), err
}

type guestChooseInput struct {
	httpapi.GuestHeader
	Body Choices
}

func (r routes) guestChoose(ctx context.Context, in *guestChooseInput) (Choices, error) {
	g, _, err := r.guests.Reader(ctx, string(in.CustomerToken))
	if err != nil {
		return Choices{}, err
	}
	return r.choose(ctx, g, in.Body)
}

type memberChooseInput struct{ Body Choices }

func (r routes) memberChoose(ctx context.Context, in *memberChooseInput) (Choices, error) {
	m, err := r.member(ctx)
	if err != nil {
		return Choices{}, err
	}
	return r.choose(ctx, m, in.Body)
}

func (r routes) choose(ctx context.Context, by notice.Reader, b Choices) (Choices, error) {
	all, err := r.service.Choose(ctx, by, seq.Map(b.Choices, func(c choice) notice.Choice {
		return notice.Choice{Kind: notice.Kind(c.Kind), Bell: c.Bell, Push: c.Push}
	}))
	return choicesOf(all), err
}

// pollInterval is the interval at which a stream polls while notifications may be lost.
const pollInterval = 5 * time.Second

type memberEventsInput struct{ httpapi.LastEvent }

// memberEvents streams the notices of an account until its session is no longer admitted.
func (r routes) memberEvents(ctx context.Context, in *memberEventsInput) (httpapi.Feed, error) {
	by := authz.ActorOf(ctx)
	m, err := r.member(ctx)
	if err != nil {
		return httpapi.Feed{}, err
	}
	changed, end := r.service.Follow(m)
	return httpapi.Feed{Key: by.String() + " " + by.Session, End: end, Run: func(ctx context.Context, s *httpapi.Stream) {
		r.follow(ctx, s, in.LastEventID, httpapi.Followed{
			Changed: changed, Admit: s.Admitted, Check: httpapi.AccountCheck,
		}, r.member)
	}}, nil
}

type guestEventsInput struct {
	httpapi.GuestHeader
	httpapi.LastEvent
}

// guestEvents streams the notices of a guest's visit until the customer token no longer allows reading them.
func (r routes) guestEvents(ctx context.Context, in *guestEventsInput) (httpapi.Feed, error) {
	g, hash, err := r.guests.Reader(ctx, string(in.CustomerToken))
	if err != nil {
		return httpapi.Feed{}, err
	}
	changed, end := r.service.Follow(g)
	return httpapi.Feed{Key: hash, End: end, Run: func(ctx context.Context, s *httpapi.Stream) {
		admit := func(ctx context.Context) (context.Context, error) {
			_, _, err := r.guests.Reader(ctx, string(in.CustomerToken))
			return ctx, err
		}
		r.follow(ctx, s, in.LastEventID, httpapi.Followed{
			Changed: changed, Admit: admit, Check: httpapi.GuestCheck,
		}, func(context.Context) (notice.Reader, error) { return g, nil })
	}}, nil
}

// follow sends the newest notices whenever what the bell shows differs from the last event. It returns when the client
// disconnects, the server stops, or access ends.
func (r routes) follow(
	ctx context.Context, s *httpapi.Stream, seen string, f httpapi.Followed,
	reader func(ctx context.Context) (notice.Reader, error),
) {
	f.Poll = pollInterval
	f.Show = func(ctx context.Context) error {
		of, err := reader(ctx)
		if err != nil {
			return err
		}
		return r.send(ctx, s, &seen, of)
	}
	s.Follow(ctx, f)
}

// send sends an event if the state of the bell is not the one seen.
func (r routes) send(ctx context.Context, s *httpapi.Stream, seen *string, of notice.Reader) error {
	state, err := r.service.State(ctx, of)
	if err != nil || stateID(state) == *seen {
		return err
	}
	p, err := r.service.Page(ctx, of, "", notice.FirstPage)
	if err != nil {
		return err
	}
	*seen = stateID(p.State)
	return s.Send(httpapi.Event{ID: *seen, Name: "notices", Data: pageOf(p)})
}

// stateID returns the id of the event that shows a state.
func stateID(s notice.State) string {
	return s.Newest + "." + strconv.Itoa(s.Unread) + "." + strconv.Itoa(s.Listed)
}

// Browser is a subscription as browsers describe it (Push API, PushSubscription.toJSON).
type Browser struct {
	Endpoint string `json:"endpoint" pattern:"^https://[!-~]+$" maxLength:"1000"`
	Keys     struct {
		P256dh string `json:"p256dh" pattern:"^[A-Za-z0-9_=-]+$" maxLength:"200"`
		Auth   string `json:"auth" pattern:"^[A-Za-z0-9_=-]+$" maxLength:"100"`
	} `json:"keys"`
	Locale string `json:"locale" enum:"en,vi,zh-Hant" doc:"Language of the notices in this browser."`
}

type subscribed struct {
	ID string `json:"id" doc:"Ends the subscription."`
}

// limitPush is the policy of one reader: subscribing again and again only replaces browsers.
const limitPush = "push_reader"

func (r routes) subscribe(ctx context.Context, by notice.Reader, b Browser) (subscribed, error) {
	if err := httpapi.Allow(ctx, limitPush, by.ID); err != nil {
		return subscribed{}, err
	}
	sub, err := r.service.NewSubscription(by, b.Endpoint, b.Keys.P256dh, b.Keys.Auth, b.Locale)
	if err != nil {
		return subscribed{}, err
	}
	return subscribed{sub.ID}, r.service.Subscribe(ctx, sub)
}

type guestPushInput struct {
	httpapi.GuestHeader
	Body Browser
}

func (r routes) guestPush(ctx context.Context, in *guestPushInput) (subscribed, error) {
	g, _, err := r.guests.Reader(ctx, string(in.CustomerToken))
	if err != nil {
		return subscribed{}, err
	}
	return r.subscribe(ctx, g, in.Body)
}

type memberPushInput struct{ Body Browser }

func (r routes) memberPush(ctx context.Context, in *memberPushInput) (subscribed, error) {
	m, err := r.member(ctx)
	if err != nil {
		return subscribed{}, err
	}
	return r.subscribe(ctx, m, in.Body)
}

// SubscriptionID is embedded in the inputs of one subscription.
type SubscriptionID struct {
	ID string `path:"id" pattern:"^[0-9a-f]{64}$"`
}

type guestPushEndInput struct {
	httpapi.GuestHeader
	SubscriptionID
}

func (r routes) guestPushEnd(ctx context.Context, in *guestPushEndInput) (*struct{}, error) {
	g, _, err := r.guests.Reader(ctx, string(in.CustomerToken))
	if err != nil {
		return nil, err
	}
	return nil, r.service.Unsubscribe(ctx, g, in.ID)
}

func (r routes) memberPushEnd(ctx context.Context, in *SubscriptionID) (*struct{}, error) {
	m, err := r.member(ctx)
	if err != nil {
		return nil, err
	}
	return nil, r.service.Unsubscribe(ctx, m, in.ID)
}

type pushKeyView struct {
	Key string `json:"key" doc:"Public key of this installation (RFC 8292) in base64url: applicationServerKey."`
}

func (r routes) pushKey(ctx context.Context, _ *struct{}) (pushKeyView, error) {
	key, err := r.key(ctx)
	return pushKeyView{key}, err
}
