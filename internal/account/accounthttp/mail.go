package accounthttp

import (
	"context"
	"net/http"

	"comanda/internal/account"
	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/telemetry"
)

// mailChoices are an account's choices about its e-mails, in requests and responses.
type mailChoices struct {
	Locale        string `json:"locale,omitempty" enum:"en,vi,zh-TW" doc:"Language of e-mails about orders and of news. If omitted, the language of the restaurant."`
	OrderReceived bool   `json:"orderReceived" doc:"An e-mail when an order was received."`
	OrderReady    bool   `json:"orderReady" doc:"An e-mail when an order is ready."`
	News          *bool  `json:"news,omitempty" doc:"The consent to news and offers. If omitted, it stays as it is."`
}

func mailChoicesOf(c account.MailChoices) mailChoices {
	return mailChoices{Locale: c.Locale, OrderReceived: c.OrderReceived, OrderReady: c.OrderReady, News: &c.News}
}

func (m *memberRoutes) mailChoices(ctx context.Context, _ *struct{}) (mailChoices, error) {
	c, err := m.accounts.MailChoices(ctx, authz.ActorOf(ctx))
	return mailChoicesOf(c), err
}

type mailChoicesIn struct {
	CallerIn

	Body mailChoices
}

func (m *memberRoutes) chooseMail(ctx context.Context, in *mailChoicesIn) (mailChoices, error) {
	c, err := m.accounts.ChooseMail(ctx, authz.ActorOf(ctx), account.MailChoices{
		Locale: in.Body.Locale, OrderReceived: in.Body.OrderReceived, OrderReady: in.Body.OrderReady,
	}, in.Body.News, in.caller.Locale)
	return mailChoicesOf(c), err
}

// UnsubscribePath is the route that e-mails name in List-Unsubscribe, before the token. UnsubscribePage is the page of the
// guest app, before the token, which asks before it unsubscribes.
const (
	UnsubscribePath = "/auth/unsubscribe/"
	UnsubscribePage = "/shop/unsubscribe#"
)

// registerUnsubscribe registers the routes of links in e-mails, which work without a login.
func (m *memberRoutes) registerUnsubscribe(a *httpapi.API) {
	ops := a.Operations("Members", httpapi.Public)
	httpapi.RegisterOutput(ops, "unsubscribe", "POST /auth/unsubscribe/{token}",
		"Withdraw the consent to news with the link of an e-mail", m.unsubscribe)
	httpapi.RegisterOutput(ops, "unsubscribe-page", "GET /auth/unsubscribe/{token}",
		"Open the page that withdraws the consent to news", m.unsubscribePage)
}

// The input has no body, because mail programs post a form (RFC 8058).
type unsubscribeIn struct {
	Token telemetry.Secret `path:"token" maxLength:"64"`
}

func (m *memberRoutes) unsubscribe(ctx context.Context, in *unsubscribeIn) (*struct{}, error) {
	return nil, m.accounts.WithdrawNews(ctx, string(in.Token))
}

type redirectOut struct {
	Status   int
	Location string `header:"Location"`
}

// unsubscribePage changes nothing: scanners open every link of an e-mail. The token moves behind #, which browsers send to
// no server.
func (m *memberRoutes) unsubscribePage(_ context.Context, in *unsubscribeIn) (*redirectOut, error) {
	return &redirectOut{http.StatusSeeOther, UnsubscribePage + string(in.Token)}, nil
}
