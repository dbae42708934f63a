// Package identitysql stores accounts, roles, permissions, sessions, codes and the audit log in SQL.
package identitysql
