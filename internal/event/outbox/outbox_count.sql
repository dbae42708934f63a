SELECT event_type, count(*), min(created_at) FROM outbox_events GROUP BY event_type ORDER BY event_type
