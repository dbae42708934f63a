// Package mailinghttp serves segments and mailings to administrators.
package mailinghttp

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/mailing"
	"comanda/internal/seq"
)

type routes struct {
	segments *mailing.Segments
	mailings *mailing.Service
}

// Register adds the routes. The service token is not accepted, as for accounts. Members belong to no branch, so all routes
// require an account that works in every branch.
func Register(a *httpapi.API, segments *mailing.Segments, mailings *mailing.Service) {
	r := routes{segments, mailings}
	ops := a.Operations("Mailings", httpapi.Admin)
	httpapi.Register(ops, "segment-count", "GET /api/segments", "Count the members of a group", authz.Everywhere(r.count))
	httpapi.RegisterOutput(ops, "segment-export", "GET /api/segments/export",
		"Download the members of a group with their addresses", authz.Everywhere(r.export), httpapi.WithCSV)
	httpapi.Register(ops, "mailing-list", "GET /api/mailings", "List the mailings to members", authz.Everywhere(r.list))
	httpapi.RegisterOutput(ops, "mailing-create", "POST /api/mailings",
		"Send an e-mail to the members of a group", authz.Everywhere(r.create), httpapi.Created)
	httpapi.RegisterOutput(ops, "mailing-preview", "POST /api/mailings/preview", "Send yourself a preview of a mailing",
		authz.Everywhere(r.preview))
	httpapi.Register(ops, "mailing-cancel", "POST /api/mailings/{id}/cancel", "Stop a mailing while it is being sent",
		authz.Everywhere(r.cancel))
}

// SegmentQuery are the conditions of a group as a query. It is exported because huma reads exported fields only.
type SegmentQuery struct {
	Province     string `query:"province" text:"line" maxLength:"100"`
	City         string `query:"city" text:"line" maxLength:"100"`
	Registered   string `query:"registered" enum:"yes,no" doc:"Whether the e-mail address is verified."`
	InactiveDays int    `query:"inactiveDays" minimum:"0" maximum:"400" doc:"Neither logged in nor active for so many days; 0 for all."`
}

func (q SegmentQuery) segment() mailing.MemberSegment {
	s := mailing.MemberSegment{Province: q.Province, City: q.City, InactiveDays: q.InactiveDays}
	if q.Registered != "" {
		s.Registered = new(q.Registered == "yes")
	}
	return s
}

type segmentCounts struct {
	Members    int64 `json:"members"`
	News       int64 `json:"news" doc:"Members who agreed to news and have a verified address."`
	Remindable int64 `json:"remindable" doc:"Members who have not verified their address and were not reminded yet."`
}

func (r routes) count(ctx context.Context, in *SegmentQuery) (segmentCounts, error) {
	n, err := r.segments.Count(ctx, in.segment())
	return segmentCounts(n), err
}

// export writes times in UTC, in a form that spreadsheet programs recognise.
func (r routes) export(ctx context.Context, in *SegmentQuery) (*huma.StreamResponse, error) {
	each, err := r.segments.Export(ctx, authz.ActorOf(ctx), in.segment())
	if err != nil {
		return nil, err
	}
	columns := []string{
		"id", "email", "phone", "firstName", "surname", "province", "city", "language", "registered", "news",
		"createdAt", "lastLogin",
	}
	return httpapi.CSVDownload("comanda-members.csv", columns, func(ctx context.Context, add func(cells ...any) error) error {
		return each(ctx, func(m mailing.SegmentMember) error {
			return add(m.ID, m.Email, m.Phone, m.FirstName, m.Surname, m.Province, m.City, m.Tag, yes(m.Registered), yes(m.News),
				moment(m.CreatedAt), moment(m.LastLogin))
		})
	}), nil
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateTime)
}

// Text is the content of a mailing in one language.
type Text struct {
	Locale  string `json:"locale" enum:"en,vi,zh-TW"`
	Subject string `json:"subject" text:"line" minLength:"1" maxLength:"150"`
	Text    string `json:"text" text:"lines" minLength:"1" maxLength:"5000" doc:"Plain text; an empty line separates paragraphs."`
}

// Segment are the conditions of a group in a body.
type Segment struct {
	Province     string `json:"province,omitempty" text:"line" maxLength:"100"`
	City         string `json:"city,omitempty" text:"line" maxLength:"100"`
	Registered   *bool  `json:"registered,omitempty"`
	InactiveDays int    `json:"inactiveDays,omitempty" minimum:"0" maximum:"400"`
}

// Content is the text of a mailing with its segment. It is exported because huma reads exported embedded types only.
type Content struct {
	Kind    string  `json:"kind" enum:"NEWS,REMINDER" doc:"NEWS goes to members who agreed to news; REMINDER, once per account, to those who have not verified their address."`
	Segment Segment `json:"segment"`
	Texts   []Text  `json:"texts,omitempty" maxItems:"3" doc:"Of news, one per language; the first is for members without one of these languages. Reminders have a fixed text."`
}

func (c Content) content() mailing.New {
	return mailing.New{
		Kind: mailing.Kind(c.Kind), Segment: mailing.MemberSegment(c.Segment),
		Texts: seq.Map(c.Texts, func(t Text) mailing.Text { return mailing.Text(t) }),
	}
}

// limitMailings is the rate-limit policy of mailings and previews, by account.
const limitMailings = "mailing"

type createInput struct {
	Body struct {
		Content

		ClientTxnID string `json:"clientTxnId" text:"exact" minLength:"1" maxLength:"64" doc:"Chosen by the client; the same id and body make one mailing."`
	}
}

// Mailing is a mailing as the API shows it.
type Mailing struct {
	ID         string     `json:"id"`
	Kind       string     `json:"kind" enum:"NEWS,REMINDER"`
	State      string     `json:"state" enum:"SENDING,SENT,CANCELED"`
	Segment    Segment    `json:"segment"`
	Texts      []Text     `json:"texts"`
	Matched    int64      `json:"matched" doc:"Members in the group when it was created."`
	Excluded   int64      `json:"excluded" doc:"Of these, without consent to news; for reminders, those who need none."`
	Queued     int64      `json:"queued" doc:"E-mails made so far."`
	Sent       int64      `json:"sent" doc:"Accepted by the mail server."`
	Failed     int64      `json:"failed"`
	Skipped    int64      `json:"skipped" doc:"Not sent: cancelled, consent withdrawn, or expired."`
	CreatedAt  time.Time  `json:"createdAt"`
	CreatedBy  string     `json:"createdBy"`
	FinishedAt *time.Time `json:"finishedAt" doc:"Null while it is being sent."`
}

func mailingOf(m mailing.Mailing) Mailing {
	return Mailing{
		ID: m.ID, Kind: string(m.Kind), State: string(m.State), Segment: Segment(m.Segment),
		Texts:   seq.Map(m.Texts, func(t mailing.Text) Text { return Text(t) }),
		Matched: m.Matched, Excluded: m.Excluded, Queued: m.Queued, Sent: m.Delivered, Failed: m.Failed, Skipped: m.Skipped,
		CreatedAt: m.CreatedAt, CreatedBy: m.CreatedBy, FinishedAt: httpapi.TimeOrNull(m.FinishedAt),
	}
}

func (r routes) create(ctx context.Context, in *createInput) (*httpapi.Creation[Mailing], error) {
	by := authz.ActorOf(ctx)
	if err := httpapi.Allow(ctx, limitMailings, by.String()); err != nil {
		return nil, err
	}
	n := in.Body.content()
	n.ClientTxnID = in.Body.ClientTxnID
	m, isNew, err := r.mailings.Send(ctx, by, n)
	if err != nil {
		return nil, err
	}
	return httpapi.CreationOf(isNew, mailingOf(m)), nil
}

type previewInput struct{ Body Content }

func (r routes) preview(ctx context.Context, in *previewInput) (*struct{}, error) {
	by := authz.ActorOf(ctx)
	if err := httpapi.Allow(ctx, limitMailings, by.String()); err != nil {
		return nil, err
	}
	return nil, r.mailings.Preview(ctx, by, in.Body.content())
}

func (r routes) list(ctx context.Context, in *httpapi.ShortPaging) (httpapi.Listed[Mailing], error) {
	page, total, err := r.mailings.Mailings(ctx, in.Size, in.Offset())
	return httpapi.ListedOf(httpapi.Paging(*in), page, total, mailingOf), err
}

func (r routes) cancel(ctx context.Context, in *httpapi.ByText) (Mailing, error) {
	m, err := r.mailings.Cancel(ctx, authz.ActorOf(ctx), in.ID)
	return mailingOf(m), err
}
