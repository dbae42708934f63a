package systemhttp

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/mail"
)

type mailInput struct {
	State string `query:"state" enum:"WAITING,FAILED" doc:"Both if omitted."`
	httpapi.ShortPaging
}

// systemMail is an e-mail as the console shows it: without its content, which is its recipient's alone.
type systemMail struct {
	ID           string    `json:"id"`
	State        string    `json:"state" enum:"WAITING,FAILED"`
	Recipient    string    `json:"recipient" doc:"The address without most of its local part."`
	Template     string    `json:"template" doc:"What it is about, such as order_paid."`
	Locale       string    `json:"locale" doc:"Its language."`
	BranchID     *string   `json:"branchId"`
	OrderID      *string   `json:"orderId"`
	CreatedAt    time.Time `json:"createdAt"`
	DueAt        time.Time `json:"dueAt" doc:"The next attempt, if it waits."`
	Attempts     int       `json:"attempts"`
	Reason       string    `json:"reason" doc:"The last error; empty if there was none."`
	CanSendAgain bool      `json:"canSendAgain" doc:"false if it had a one-time code, which is deleted with a failure."`
}

func (r routes) mail(ctx context.Context, in *mailInput) (httpapi.Listed[systemMail], error) {
	page, total, err := r.service.Mail(ctx, mail.State(in.State), in.Size, in.Offset())
	return httpapi.ListedOf(httpapi.Paging(in.ShortPaging), page, total, func(e mail.Entry) systemMail {
		return systemMail{
			e.ID, string(e.State), e.Recipient, e.Template, e.Locale, httpapi.IDOrNull(e.Branch), httpapi.OrNull(e.OrderID),
			e.Created, e.Due, e.Attempts, e.Reason, e.CanSendAgain(),
		}
	}), err
}

type mailAgainInput struct {
	ID string `path:"id" minLength:"1" maxLength:"64"`
}

func (r routes) mailAgain(ctx context.Context, in *mailAgainInput) (*struct{}, error) {
	return nil, r.service.SendMailAgain(ctx, authz.ActorOf(ctx), in.ID)
}
