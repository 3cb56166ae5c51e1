import type { Migration } from './migration.ts';

const invoked = `language plpgsql security invoker set search_path = pg_catalog`;
const within = `perform set_config('stepfast.project', p_project::text, true);`;

/** One function per call: one round trip, one transaction. Each sets its project, and row level security enforces it. */
export const calls: Migration = {
  id: 2,
  name: 'calls',
  sql: `
    create function stepfast.load_1(
      p_project int, p_run text, p_key uuid,
      out seq int, out hash text, out definition text, out format int, out state text, out repeated text
    ) ${invoked} as $$
    declare
      v_began date;
      v_seq int;
    begin
      ${within}
      select r.seq, r.hash, r.definition, r.format, r.state, r.began
        into seq, hash, definition, format, state, v_began
        from stepfast.runs r where r.project = p_project and r.run = p_run;
      if found and p_key is not null then
        select k.seq into v_seq from stepfast.keys k
          where k.project = p_project and k.run = p_run and k.key = p_key;
        if found then
          select e.reply into repeated from stepfast.events e
            where e.project = p_project and e.run = p_run and e.seq = v_seq and e.began = v_began;
        end if;
      end if;
    end $$;

    -- 'made', 'taken', 'mine' (made by an earlier try of this very call), 'body' (say the definition in full)
    create function stepfast.create_1(
      p_project int, p_run text, p_definition text, p_name text, p_source text,
      p_hash text, p_body text, p_key uuid, p_reply text,
      p_status text, p_live boolean, p_created bigint, p_updated bigint, p_format int, p_state text
    ) returns text ${invoked} as $$
    declare v_began date := (now() at time zone 'utc')::date;
    begin
      ${within}
      if p_source is not null then
        insert into stepfast.definitions (project, hash, name, body)
          values (p_project, p_definition, p_name, p_source) on conflict do nothing;
      elsif not exists (
        select from stepfast.definitions d where d.project = p_project and d.hash = p_definition
      ) then return 'body';
      end if;
      insert into stepfast.runs (project, run, began, seq, hash, definition, status, live, created_ms, updated_ms,
          format, state)
        values (p_project, p_run, v_began, 1, p_hash, p_definition, p_status, p_live, p_created, p_updated,
          p_format, p_state)
        on conflict do nothing;
      if not found then
        return case when exists (
          select from stepfast.events e
            where e.project = p_project and e.run = p_run and e.seq = 1 and e.hash = p_hash and e.began = (
              select r.began from stepfast.runs r where r.project = p_project and r.run = p_run)
        ) then 'mine' else 'taken' end;
      end if;
      insert into stepfast.events (project, run, began, seq, hash, body, reply)
        values (p_project, p_run, v_began, 1, p_hash, p_body, p_reply);
      -- Of a run of this name that is gone.
      delete from stepfast.keys k where k.project = p_project and k.run = p_run;
      if p_key is not null then
        insert into stepfast.keys (project, run, key, seq) values (p_project, p_run, p_key, 1);
      end if;
      return 'made';
    end $$;

    -- 'done': the batch is in the history, by this call or by an earlier try of it. Else somebody was first, and 'now'
    -- is the run's seq, hash, definition, format and state; none where that is long, or the key was used before.
    create function stepfast.append_1(
      p_project int, p_run text, p_seq int, p_prev text,
      p_hash text, p_body text, p_key uuid, p_reply text,
      p_status text, p_live boolean, p_updated bigint, p_format int, p_state text,
      out done boolean, out now text
    ) ${invoked} as $$
    declare v_began date;
    begin
      ${within}
      update stepfast.runs r
        set seq = p_seq, hash = p_hash, status = p_status, live = p_live, updated_ms = p_updated, format = p_format,
          state = p_state
        where r.project = p_project and r.run = p_run and r.seq = p_seq - 1 and r.hash = p_prev
          and not exists (
            select from stepfast.keys k where k.project = p_project and k.run = p_run and k.key = p_key)
        returning r.began into v_began;
      done := found;
      if done then
        insert into stepfast.events (project, run, began, seq, hash, body, reply)
          values (p_project, p_run, v_began, p_seq, p_hash, p_body, p_reply);
        if p_key is not null then
          insert into stepfast.keys (project, run, key, seq) values (p_project, p_run, p_key, p_seq);
        end if;
        return;
      end if;
      select r.began into v_began from stepfast.runs r where r.project = p_project and r.run = p_run;
      done := exists (
        select from stepfast.events e
          where e.project = p_project and e.run = p_run and e.seq = p_seq and e.hash = p_hash and e.began = v_began);
      if not done and not exists (
        select from stepfast.keys k where k.project = p_project and k.run = p_run and k.key = p_key)
      then
        select json_build_array(r.seq, r.hash, r.definition, r.format, r.state)::text into now
          from stepfast.runs r
          where r.project = p_project and r.run = p_run and octet_length(r.state) <= 65536;
      end if;
    end $$;

    create function stepfast.lock_1(p_project int, p_run text) returns void ${invoked} as $$
    begin
      ${within}
      perform from stepfast.runs r where r.project = p_project and r.run = p_run for update;
    end $$;

    create function stepfast.entries_1(p_project int, p_run text)
      returns table (seq int, hash text, body text, reply text, last text) ${invoked} as $$
    begin
      ${within}
      return query select e.seq, e.hash, e.body, e.reply,
          (select r.hash from stepfast.runs r where r.project = p_project and r.run = p_run)
        from stepfast.events e
        where e.project = p_project and e.run = p_run and e.began = (
          select r.began from stepfast.runs r where r.project = p_project and r.run = p_run)
        order by e.seq;
    end $$;

    create function stepfast.definitions_1(p_project int, p_hashes text[])
      returns table (hash text, body text) ${invoked} as $$
    begin
      ${within}
      return query select d.hash, d.body from stepfast.definitions d
        where d.project = p_project and d.hash = any(p_hashes);
    end $$;

    create function stepfast.ids_1(p_project int, p_name text, p_from text, p_to text)
      returns table (run text) ${invoked} as $$
    begin
      ${within}
      if p_name is null then
        return query select r.run from stepfast.runs r where r.project = p_project;
      else
        return query select r.run from stepfast.runs r where r.project = p_project and r.run = p_name
          union select r.run from stepfast.runs r
            where r.project = p_project and r.backwards >= p_from and r.backwards < p_to;
      end if;
    end $$;

    -- Ends with the row that makes it p_bytes long.
    create function stepfast.page_1(
      p_project int, p_live boolean, p_ms bigint, p_run text, p_limit int, p_bytes int
    ) returns table (run text, definition text, created_ms bigint, format int, state text) ${invoked} as $$
    declare
      v_rows refcursor;
      v_bytes bigint := 0;
    begin
      ${within}
      if p_live then
        open v_rows for select r.run, r.definition, r.created_ms, r.format, r.state from stepfast.runs r
          where r.project = p_project and r.live
            and r.created_ms <= p_ms and (r.created_ms < p_ms or r.run > p_run collate "C")
          order by r.created_ms desc, r.run limit p_limit;
      else
        open v_rows for select r.run, r.definition, r.created_ms, r.format, r.state from stepfast.runs r
          where r.project = p_project and (p_live is null or not r.live)
            and r.created_ms <= p_ms and (r.created_ms < p_ms or r.run > p_run collate "C")
          order by r.created_ms desc, r.run limit p_limit;
      end if;
      loop
        fetch v_rows into run, definition, created_ms, format, state;
        exit when not found;
        return next;
        v_bytes := v_bytes + octet_length(state);
        exit when v_bytes >= p_bytes;
      end loop;
      close v_rows;
    end $$;

    create function stepfast.seqs_1(p_project int, p_runs text[])
      returns table (run text, seq int) ${invoked} as $$
    begin
      ${within}
      return query select r.run, r.seq from stepfast.runs r
        where r.project = p_project and r.run = any(p_runs);
    end $$;

    -- The first row has no run: its tx is the end of what can be told without gaps. Ends with the transaction that
    -- makes it p_bytes long: none is ever split.
    create function stepfast.tail_1(p_project int, p_after bigint, p_limit int, p_bytes int)
      returns table (tx bigint, run text, seq int, body text) ${invoked} as $$
    declare
      v_end bigint := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
      v_bytes bigint := 0;
      v_last bigint;
      v_row record;
    begin
      ${within}
      return query select v_end - 1, null::text, null::int, null::text;
      if p_after is null or p_after >= v_end then
        return query select e.tx, null::text, null::int, null::text from stepfast.events e
          where e.project = p_project and e.tx < v_end order by e.tx desc limit 1;
      else
        for v_row in select e.tx, e.run, e.seq, e.body from stepfast.events e
          where e.project = p_project and e.tx > p_after and e.tx < v_end
          order by e.tx fetch first p_limit rows with ties
        loop
          exit when v_bytes >= p_bytes and v_row.tx <> v_last;
          v_last := v_row.tx;
          v_bytes := v_bytes + octet_length(v_row.body);
          tx := v_row.tx;
          run := v_row.run;
          seq := v_row.seq;
          body := v_row.body;
          return next;
        end loop;
      end if;
    end $$;

    create function stepfast.keep_1(p_project int, p_run text, p_digest text, p_body bytea)
      returns void ${invoked} as $$
    begin
      ${within}
      insert into stepfast.texts (project, run, digest, body) values (p_project, p_run, p_digest, p_body)
        on conflict do nothing;
    end $$;

    create function stepfast.text_1(p_project int, p_run text, p_digest text) returns bytea ${invoked} as $$
    begin
      ${within}
      return (select t.body from stepfast.texts t
        where t.project = p_project and t.run = p_run and t.digest = p_digest);
    end $$;

    create function stepfast.remove_1(p_project int, p_run text) returns void ${invoked} as $$
    declare v_began date;
    begin
      ${within}
      delete from stepfast.runs r where r.project = p_project and r.run = p_run returning r.began into v_began;
      if found then
        delete from stepfast.events e where e.project = p_project and e.run = p_run and e.began = v_began;
      end if;
      delete from stepfast.keys k where k.project = p_project and k.run = p_run;
      delete from stepfast.texts t where t.project = p_project and t.run = p_run;
    end $$;

    revoke execute on all functions in schema stepfast from public;
  `,
  grants: `
    grant execute on function stepfast.load_1, stepfast.create_1, stepfast.append_1, stepfast.lock_1,
      stepfast.entries_1, stepfast.definitions_1, stepfast.ids_1, stepfast.page_1, stepfast.seqs_1,
      stepfast.tail_1, stepfast.keep_1, stepfast.text_1, stepfast.remove_1 to stepfast_app;
  `,
};
