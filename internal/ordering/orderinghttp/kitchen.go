package orderinghttp

import (
	"context"
	"errors"
	"net/http"
	"time"

	"comanda/internal/authz"
	"comanda/internal/catalog"
	"comanda/internal/httpapi"
	"comanda/internal/ordering"
	"comanda/internal/seq"
	"comanda/internal/text"
)

// errFeedEnded ends a screen's stream whose branch can no longer be read.
var errFeedEnded = errors.New("orderinghttp: the branch's board has ended")

// RegisterBoard registers the kitchen board's routes: one read and one event stream.
func RegisterBoard(a *httpapi.API, boards *ordering.BoardHub) {
	b, ops := boardRoutes{boards}, a.Operations("Orders", httpapi.Staff)
	httpapi.RegisterOutput(ops, "board-get", "GET /api/boards/{branchId}",
		"View the order board", b.get)
	httpapi.RegisterStream[boardEventsInput, board](ops, "board-events", "GET /api/boards/{branchId}/events",
		"Follow the order board live: the board as it is, then the whole board after every change; the event id is the board's",
		b.events)
}

// boardRoutes handles the board's requests. It is safe for concurrent use, like the hub.
type boardRoutes struct{ hub *ordering.BoardHub }

type boardInput struct {
	BranchID string `path:"branchId" maxLength:"18"`
	Station  string `query:"station" pattern:"^[1-9][0-9]{0,17}$" doc:"A category; returns only its lines and the tickets that have such lines."`
	Since    string `query:"since" text:"exact" maxLength:"64" doc:"The id of a board; the answer is 304 while the board still has this id, regardless of the station."`
}

type boardOutput struct {
	Status int
	Body   *board
}

// boardBranch parses a branch id. A malformed id returns the same error as an unknown branch.
func boardBranch(s string) (int64, error) {
	id, err := httpapi.ParseID(s)
	if err != nil {
		return 0, catalog.ErrBranch
	}
	return id, nil
}

// get returns a board, or 304 if the client names the current one.
func (r boardRoutes) get(ctx context.Context, in *boardInput) (*boardOutput, error) {
	branch, err := boardBranch(in.BranchID)
	if err != nil {
		return nil, err
	}
	b, err := r.hub.Get(ctx, authz.ActorOf(ctx), branch)
	if err != nil {
		return nil, err
	}
	// The id covers the whole board, so a station gets 304 only if no other station has changed either.
	if b.ID == in.Since {
		return &boardOutput{Status: http.StatusNotModified}, nil
	}
	body := r.boardOf(b, boardView{httpapi.IDOf(in.Station), authz.MayUse(ctx, receiverRoute)})
	return &boardOutput{http.StatusOK, &body}, nil
}

type boardEventsInput struct {
	httpapi.LastEvent
	BranchID string `path:"branchId" maxLength:"18"`
}

// events streams a branch's board. The limit on open streams counts per account and session, because a kitchen's
// tablets often share an account.
func (r boardRoutes) events(ctx context.Context, in *boardEventsInput) (httpapi.Feed, error) {
	branch, err := boardBranch(in.BranchID)
	if err != nil {
		return httpapi.Feed{}, err
	}
	by := authz.ActorOf(ctx)
	screen, end, err := r.hub.Follow(ctx, by, branch)
	if err != nil {
		return httpapi.Feed{}, err
	}
	return httpapi.Feed{Key: by.String() + " " + by.Session, End: end, Run: func(ctx context.Context, s *httpapi.Stream) {
		r.follow(ctx, s, screen, branch, in.LastEventID)
	}}, nil
}

// follow sends boards until the client disconnects, the session is no longer admitted, or the screen ends. Boards in
// between are skipped: only the newest one matters. The hub polls for its screens.
func (r boardRoutes) follow(ctx context.Context, s *httpapi.Stream, screen *ordering.Screen, branch int64, seen string) {
	s.Follow(ctx, httpapi.Followed{
		Changed: screen.Changed(), Poll: httpapi.AccountCheck, Check: httpapi.AccountCheck,
		Admit: func(ctx context.Context) (context.Context, error) {
			now, err := s.Admitted(ctx)
			if err == nil && !authz.ActorOf(now).Sees(branch) {
				err = catalog.ErrBranch
			}
			return now, err
		},
		Show: func(ctx context.Context) error {
			if screen.Closed() {
				return errFeedEnded
			}
			b := screen.Board()
			if b.ID == seen {
				return nil
			}
			seen = b.ID
			l := boardView{receivers: authz.MayUse(ctx, receiverRoute)}
			return s.Send(httpapi.Event{ID: b.ID, Name: "board", Data: r.boardOf(b, l)})
		},
	})
}

// board is the response of the board's routes.
type board struct {
	ID         string      `json:"id" doc:"Identifies the content of the board; a changed board has another id."`
	BranchID   string      `json:"branchId"`
	BizDate    string      `json:"bizDate"`
	Now        time.Time   `json:"now" doc:"The server's time, from which ages are counted."`
	Tickets    []Ticket    `json:"tickets" doc:"Open tickets by time of payment; a voided ticket stays until it is cleared. At most 300."`
	Served     []Ticket    `json:"served" doc:"Tickets served or cleared within the last 30 minutes, newest first; they can be recalled. At most 300."`
	Awaiting   []awaiting  `json:"awaiting" doc:"Orders to be paid at the counter, oldest first. The kitchen does not cook them yet. At most 300."`
	More       bool        `json:"more" doc:"Whether a list was cut at its limit."`
	AllDay     []dishCount `json:"allDay" doc:"Portions that must still be cooked, by dish."`
	Stations   []station   `json:"stations" doc:"The categories of the branch's menus, in menu order."`
	Thresholds thresholds  `json:"thresholds"`
}

// Ticket is an order as the kitchen's screens and printers show it.
type Ticket struct {
	Progress
	Kind            string       `json:"kind" enum:"DINE_IN,DELIVERY,PICKUP"`
	TableID         string       `json:"tableId" doc:"Empty except for DINE_IN."`
	TableLabel      string       `json:"tableLabel" doc:"Empty except for DINE_IN."`
	ReceiverName    string       `json:"receiverName" doc:"Empty for DINE_IN, and without the permission to see receivers."`
	ReceiverPhone   string       `json:"receiverPhone" doc:"Empty for DINE_IN, and without the permission to see receivers."`
	ReceiverAddress string       `json:"receiverAddress" doc:"Empty for DINE_IN and PICKUP, and without the permission to see receivers."`
	ReceiverNote    string       `json:"receiverNote" doc:"For the courier; empty without one, and without the permission to see receivers."`
	Method          string       `json:"method" doc:"The payment method."`
	PlacedAt        time.Time    `json:"placedAt"`
	PaidAt          *time.Time   `json:"paidAt" doc:"The time from which its age is counted."`
	Items           []ticketItem `json:"items"`
}

type ticketItem struct {
	Index      int    `json:"index" doc:"Position among all items of the order, even if a station shows only some of them."`
	ItemID     string `json:"itemId"`
	DishID     string `json:"dishId"`
	CategoryID string `json:"categoryId"`
	Name       string `json:"name" doc:"In the kitchen's language."`
	Qty        int64  `json:"qty"`
	Notes      string `json:"notes"`
	Done       bool   `json:"done"`
	Voided     bool   `json:"voided"`

	Options []orderedOption `json:"options,omitempty" doc:"With their kitchen names; absent if there are none."`
}

type awaiting struct {
	Ticket
	TotalPrice int64     `json:"totalPrice" doc:"Minor units of the currency."`
	Currency   string    `json:"currency"`
	PayBy      time.Time `json:"payBy"`
}

type dishCount struct {
	DishID     string `json:"dishId"`
	CategoryID string `json:"categoryId"`
	Name       string `json:"name"`
	Qty        int64  `json:"qty"`

	Size    string        `json:"size,omitempty" doc:"Kitchen name of the size; each size of a dish has its own entry."`
	Options []optionCount `json:"options,omitempty" doc:"How many units of each other option these portions have."`
}

type optionCount struct {
	OptionID string `json:"optionId"`
	Name     string `json:"name"`
	Qty      int64  `json:"qty"`
}

type station struct {
	ID   string `json:"id" doc:"A category."`
	Name string `json:"name" doc:"In the kitchen's language."`
}

type thresholds struct {
	WarnSeconds int64 `json:"warnSeconds" doc:"Age from which a ticket counts as slow."`
	LateSeconds int64 `json:"lateSeconds" doc:"Age from which a ticket counts as late."`
}

// boardView selects which parts of a board one screen receives.
type boardView struct {
	only      int64 // category id of a station; 0 selects the items of all stations
	receivers bool  // include the receivers' personal data
}

// boardOf returns the part of a board that l selects.
func (r boardRoutes) boardOf(b *ordering.Board, l boardView) board {
	warn, late := r.hub.Ages()
	out := board{
		ID: b.ID, BranchID: httpapi.FormatID(b.Branch), BizDate: b.Date, Now: b.At, More: b.More,
		Tickets: ticketsOf(b, b.Tickets, l), Served: ticketsOf(b, b.Served, l), Awaiting: []awaiting{},
		AllDay: seq.Map(b.AllDay(l.only), func(d ordering.DishCount) dishCount {
			return dishCount{
				httpapi.FormatID(d.DishID), httpapi.FormatID(d.Category), d.Name, d.Qty, text.Printable(d.Size),
				seq.Map(d.Options, func(o ordering.OptionCount) optionCount {
					return optionCount{httpapi.FormatID(o.OptionID), text.Printable(o.Name), o.Qty}
				}),
			}
		}),
		Stations: seq.Map(b.Stations, func(s ordering.Station) station {
			return station{httpapi.FormatID(s.Category), s.Names.In(b.Locales...)}
		}),
		Thresholds: thresholds{int64(warn / time.Second), int64(late / time.Second)},
	}
	for i := range b.Awaiting {
		o := &b.Awaiting[i]
		if t := ticketOf(b, o, l); len(t.Items) > 0 {
			out.Awaiting = append(out.Awaiting, awaiting{t, o.Total, string(o.Currency), o.PayBy})
		}
	}
	return out
}

// ticketsOf returns the tickets with at least one item of the station.
func ticketsOf(b *ordering.Board, list []ordering.Ticket, l boardView) []Ticket {
	out := []Ticket{}
	for i := range list {
		if t := ticketOf(b, &list[i], l); len(t.Items) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// ticketOf returns an order as a ticket, with the items of one station or of all. It passes every text through
// text.Printable because tickets are printed: texts stored before the API rejected control characters could contain
// printer commands.
func ticketOf(b *ordering.Board, o *ordering.Ticket, l boardView) Ticket {
	t := Ticket{
		Progress: progressOf(&o.Order), Kind: string(o.Kind), TableLabel: text.Printable(o.Table.Label), Method: string(o.Method),
		PlacedAt: o.CreatedAt, PaidAt: httpapi.TimeOrNull(o.PaidAt), Items: []ticketItem{},
	}
	if o.Table.ID != 0 {
		t.TableID = httpapi.FormatID(o.Table.ID)
	}
	if l.receivers {
		t.ReceiverName, t.ReceiverPhone = text.Printable(o.Receiver.Name), text.Printable(o.Receiver.Phone)
		t.ReceiverAddress, t.ReceiverNote = text.Printable(o.Receiver.Address), text.Printable(o.Receiver.Note)
	}
	// Index counts all items of the order, because marks refer to it.
	for i, it := range o.Items {
		category := b.CategoryOf(it.DishID)
		if l.only != 0 && category != l.only {
			continue
		}
		t.Items = append(t.Items, ticketItem{
			Index: i, ItemID: httpapi.FormatID(it.ItemID), DishID: httpapi.FormatID(it.DishID),
			CategoryID: httpapi.FormatID(category), Name: text.Printable(it.Name), Qty: it.Qty,
			Notes: text.Printable(it.Notes), Done: !it.DoneAt.IsZero(), Voided: o.Voided(),
			Options: optionsOf(it.OptionLines(), func(l *catalog.OptionLine) string { return text.Printable(l.KitchenName()) }),
		})
	}
	return t
}

// registerSteps registers the kitchen's and the waiters' actions on orders.
func (r routes) registerSteps(a *httpapi.API) {
	ops := a.Operations("Orders", httpapi.Staff)
	for _, s := range []struct {
		kind          ordering.StepKind
		path, summary string
	}{
		{ordering.Accept, "accept", "Accept an order in the kitchen"},
		{ordering.Start, "start", "Start to cook an order; one that is PLACED becomes ACCEPTED first"},
		{ordering.Done, "ready", "Mark an order as ready"},
		{ordering.Serve, "serve", "Mark an order as served or handed over"},
		{ordering.Recall, "recall", "Undo the last step of an order in the kitchen"},
	} {
		httpapi.Register(ops, "order-"+s.path, "POST /api/orders/{id}/"+s.path, s.summary,
			func(ctx context.Context, in *stepInput) (Progress, error) { return r.step(ctx, s.kind, in) })
	}
	httpapi.Register(ops, "order-item-done", "POST /api/orders/{id}/items/{index}/done",
		"Tick off a line of an order in the kitchen, or undo it", r.markItem)
}

// stepInput is a request for a step. The body is optional: without it no version is checked.
type stepInput struct {
	ID   string    `path:"id" maxLength:"64"`
	Body *stepBody `required:"false"`
}

type stepBody struct {
	Version int64 `json:"version,omitempty" minimum:"1" doc:"The order's version that the caller has seen. If the order has another version by now, the step is refused with the code changed. Required to clear a voided ticket. Without it, a repeated recall goes back twice."`
}

// Progress is an order's state in the kitchen.
type Progress struct {
	ID            string     `json:"id"`
	Number        string     `json:"number" example:"A-042"`
	Status        string     `json:"status" enum:"PLACED,ACCEPTED,PREPARING,READY,SERVED,COMPLETED"`
	PaymentStatus string     `json:"paymentStatus"`
	Voided        bool       `json:"voided" doc:"Whether the order is or will be refunded in full, so that nothing of it must be cooked."`
	Cleared       bool       `json:"cleared" doc:"Whether the kitchen has acknowledged that the ticket is voided."`
	StepAt        *time.Time `json:"stepAt" doc:"Time of the last step; null before the first."`
	Version       int64      `json:"version"`
}

func progressOf(o *ordering.Order) Progress {
	return Progress{
		ID: o.ID, Number: ordering.ShortNumber(o.Number), Status: string(o.Status), PaymentStatus: string(o.PaymentStatus),
		Voided: o.Voided(), Cleared: o.VoidSeen, StepAt: httpapi.TimeOrNull(o.SteppedAt), Version: o.Version,
	}
}

// step takes one step. Conflicts carry the order's status and version.
func (r routes) step(ctx context.Context, kind ordering.StepKind, in *stepInput) (Progress, error) {
	s := ordering.Step{OrderID: in.ID, Kind: kind}
	if in.Body != nil {
		s.Version = in.Body.Version
	}
	o, err := r.orders.Step(ctx, authz.ActorOf(ctx), s)
	return progressOf(&o), err
}

type markInput struct {
	ID    string `path:"id" maxLength:"64"`
	Index int    `path:"index" minimum:"0" maximum:"999" doc:"Position of the line among the order's items, from 0."`
	Body  struct {
		Done    bool  `json:"done"`
		Version int64 `json:"version,omitempty" minimum:"1" doc:"The order's version that the caller has seen, as for steps."`
	}
}

// markItem sets or removes the mark of one line, for all screens.
func (r routes) markItem(ctx context.Context, in *markInput) (Progress, error) {
	o, err := r.orders.MarkItem(ctx, authz.ActorOf(ctx), ordering.MarkItem{
		OrderID: in.ID, Index: in.Index, Done: in.Body.Done, Version: in.Body.Version,
	})
	return progressOf(&o), err
}
